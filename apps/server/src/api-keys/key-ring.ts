import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { KEY_PATTERN } from '../config-values.ts';
import type { Database } from '../database/database.ts';
import { hashKey } from './key.ts';
import { findKeys, type StoredKey, touchKey } from './key-store.ts';

export interface KeyRing {
  /** Whom a key stands for; nothing where it is unknown, revoked or expired. Throws `unavailable`. */
  authenticate(key: string): StoredKey | undefined | Promise<StoredKey | undefined>;
  /** Waits for the last uses to be noted. */
  close(): Promise<void>;
}

/** How long a look-up holds. With the check of open streams (400 ms) a revocation shows everywhere within 1 s. */
const HOLDS_MS = 500;
/** Look-ups remembered, found or not; strangers' guesses push each other out. */
const REMEMBERED = 10_000;
const TOUCH_MS = 60_000;

interface Remembered {
  key: StoredKey | undefined;
  /** Milliseconds of `performance.now()`, of before it was looked up. */
  at: number;
}

/**
 * Keys by their hash, remembered for half a second. Whatever is asked for while a look-up runs goes into the next one,
 * so that guesses, however many, cost one connection.
 */
export function createKeyRing({ database, clock, log }: { database: Database; clock: Clock; log: Logger }): KeyRing {
  const remembered = new Map<string, Remembered>();
  const touches = new Set<Promise<void>>();
  let next: { hashes: Set<string>; done: Promise<Map<string, StoredKey>> } | undefined;
  let running: Promise<unknown> = Promise.resolve();

  function load(hash: string): Promise<Map<string, StoredKey>> {
    if (!next) {
      const hashes = new Set<string>();
      const done = running.then(() => {
        next = undefined;
        return look(hashes);
      });
      next = { hashes, done };
      running = done.catch(() => undefined);
    }
    next.hashes.add(hash);
    return next.done;
  }

  async function look(hashes: Set<string>): Promise<Map<string, StoredKey>> {
    const at = performance.now();
    const keys = await database.inEngine((tx) => findKeys(tx, [...hashes]));
    const found = new Map(keys.map((key) => [key.hash, key]));
    for (const hash of hashes) {
      remembered.delete(hash);
      remembered.set(hash, { key: found.get(hash), at });
    }
    for (const hash of remembered.keys()) {
      if (remembered.size <= REMEMBERED) break;
      remembered.delete(hash);
    }
    for (const key of keys) touch(key);
    return found;
  }

  /** Off the way of the request, at most once a minute by all servers together. */
  function touch(key: StoredKey): void {
    const now = clock.now();
    const notSince = new Date(now.getTime() - TOUCH_MS);
    if (!unlessExpired(key) || (key.lastUsedAt && key.lastUsedAt > notSince)) return;
    const noted = database
      .inEngine((tx) => touchKey(tx, key, now, notSince))
      .catch((error) => log.warn({ err: error }, 'the use of a key was not noted'))
      .finally(() => touches.delete(noted));
    touches.add(noted);
  }

  const unlessExpired = (key: StoredKey | undefined) =>
    key?.expiresAt && key.expiresAt <= clock.now() ? undefined : key;

  return {
    authenticate(key) {
      if (!KEY_PATTERN.test(key)) return undefined;
      const hash = hashKey(key);
      const known = remembered.get(hash);
      if (known && performance.now() - known.at < HOLDS_MS) return unlessExpired(known.key);
      return load(hash).then((found) => unlessExpired(found.get(hash)));
    },
    close: async () => {
      await Promise.all(touches);
    },
  };
}
