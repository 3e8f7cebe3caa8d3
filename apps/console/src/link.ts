import { useSyncExternalStore } from 'react';

/** Whether the server answers. */
export interface Link {
  /** Since when it hasn't, in milliseconds. */
  lostAt?: number;
  /** How often it came back: who follows a stream begins it anew then. */
  returns: number;
}

let link: Link = { returns: 0 };
const listeners = new Set<() => void>();
const change = (next: Link) => {
  link = next;
  for (const listener of listeners) listener();
};

export function serverLost(): void {
  if (link.lostAt === undefined) change({ ...link, lostAt: Date.now() });
}

export function serverHeard(): void {
  if (link.lostAt !== undefined) change({ returns: link.returns + 1 });
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useLink = () => useSyncExternalStore(subscribe, () => link);

const AWAY: readonly number[] = [502, 503, 504];

/** A fetch that notices when the server is away, also by a stream that breaks. */
export async function watchedFetch(request: Request, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request, init);
  } catch (error) {
    if (!init.signal?.aborted) serverLost();
    throw error;
  }
  if (!AWAY.includes(response.status)) serverHeard();
  const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream');
  if (!isStream || !response.body) return response;
  return new Response(watched(response.body, init.signal), response);
}

function watched(body: ReadableStream<Uint8Array>, signal: AbortSignal | null | undefined) {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (!signal?.aborted) serverLost();
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
