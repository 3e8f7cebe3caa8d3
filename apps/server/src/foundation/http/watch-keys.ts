import type { Principal } from './principal.ts';

/** Who opened a stream. */
export interface KeyHolder {
  /** The key, or the token and what it opens: the same for all streams that end together. */
  credential: string;
  /** Asks again who opened it. */
  recognize: (() => Principal | undefined | Promise<Principal | undefined>) | undefined;
  /** Ended where the credential is no longer good. */
  stream: { end(): void } | undefined;
}

/** How often an open stream's key is looked at; with the key ring's half second a revocation shows within one. */
const KEY_CHECK_MS = 400;

/** Without the database nothing is known of a key; its streams stay until something is. */
async function isGood({ recognize }: KeyHolder): Promise<boolean> {
  try {
    return (await recognize?.()) !== undefined;
  } catch {
    return true;
  }
}

/** Watches the keys of open streams: each key once, however many streams it has. */
export function watchKeys() {
  const open = new Map<string, Set<KeyHolder>>();
  let timer: NodeJS.Timeout | undefined;

  const look = async (holders: Set<KeyHolder>) => {
    const [first] = holders;
    if (!first || (await isGood(first))) return;
    for (const { stream } of holders) stream?.end();
  };
  return {
    add(holder: KeyHolder): void {
      const same = open.get(holder.credential) ?? new Set();
      open.set(holder.credential, same.add(holder));
      timer ??= setInterval(() => {
        for (const each of open.values()) void look(each);
      }, KEY_CHECK_MS);
    },
    remove(holder: KeyHolder): void {
      const same = open.get(holder.credential);
      same?.delete(holder);
      if (same?.size === 0) open.delete(holder.credential);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}
