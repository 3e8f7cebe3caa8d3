import type { Tried } from './try-delivery.ts';

/** What an endpoint wants instead of more: a rest of so many milliseconds, or, having answered 410, nothing ever. */
export interface Wish {
  /** The URL that has asked. */
  url: string;
  restMs: number;
  isGone: boolean;
}

/** What an endpoint wants after another answer. Of those that come while its URL changes, the first that asks counts. */
export function heed(wish: Wish | undefined, url: string, { restMs, verdict }: Tried): Wish | undefined {
  const isGone = verdict === 'gone';
  if (!wish) return isGone || restMs > 0 ? { url, restMs, isGone } : undefined;
  if (wish.url !== url) return wish;
  return { url, restMs: Math.max(restMs, wish.restMs), isGone: isGone || wish.isGone };
}
