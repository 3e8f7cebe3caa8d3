import type { Logger } from 'pino';
import { KEY_PATTERN } from '../../config-values.ts';
import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import { limiter } from '../../foundation/values/limiter.ts';
import { hashKey } from './key.ts';
import { findKeys, type StoredKey, type StoredSession, touchKey } from './key-store.ts';
import { findSessions, touchSession } from './session-store.ts';

export interface KeyRing {
  /** Whom a key stands for; nothing where it is unknown, revoked or expired. Throws `unavailable`. */
  authenticate(key: string): StoredKey | undefined | Promise<StoredKey | undefined>;
  /** The same of the secret of a session's cookie. */
  authenticateSession(secret: string): StoredSession | undefined | Promise<StoredSession | undefined>;
  /** Knows a session no more that has ended, whatever a look-up finds that is under way. */
  forget(hash: string): void;
  /** The same by the hash of either. */
  authenticateHash(hash: string): StoredKey | undefined | Promise<StoredKey | undefined>;
  /** Waits for the last uses to be noted. */
  close(): Promise<void>;
}

/** How long a look-up holds. With the check of open streams (400 ms) a revocation shows everywhere within 1 s. */
const HOLDS_MS = 500;
/** Look-ups remembered, found or not; strangers' guesses push each other out. */
const REMEMBERED = 10_000;
const TOUCH_MS = 60_000;
/** How many uses of keys are noted at a time, two of one workspace, so that requests find connections. */
const NOTES_AT_ONCE = 3;

interface Remembered {
  key: StoredKey | undefined;
  /** Milliseconds of `performance.now()`, of before it was looked up. */
  at: number;
}

/**
 * Keys and sessions by their hash, remembered for half a second. Whatever is asked for while a look-up runs goes into the next one,
 * so that guesses, however many, cost one connection.
 */
export function createKeyRing({ database, clock, log }: { database: Database; clock: Clock; log: Logger }): KeyRing {
  const remembered = new Map<string, Remembered>();
  const notes = limiter(NOTES_AT_ONCE);

  const look = coalesce(async (hashes: string[]) => {
    const at = performance.now();
    const wanted = new Set(hashes);
    const all = await database.inEngine((tx) =>
      Promise.all([findKeys(tx, [...wanted]), findSessions(tx, [...wanted])]),
    );
    const keys = all.flat().filter(({ hash }) => !hasEnded(hash, at));
    const found = new Map(keys.map((key) => [key.hash, key]));
    for (const hash of wanted) {
      if (hasEnded(hash, at)) continue;
      remembered.delete(hash);
      remembered.set(hash, { key: found.get(hash), at });
    }
    for (const hash of remembered.keys()) {
      if (remembered.size <= REMEMBERED) break;
      remembered.delete(hash);
    }
    for (const key of keys) touch(key);
    return hashes.map((hash) => found.get(hash));
  });

  /** Whether a session has ended since a look-up began. */
  const hasEnded = (hash: string, since: number) => (remembered.get(hash)?.at ?? 0) > since;

  /** Off the way of the request, at most once a minute by all servers together. */
  function touch(key: StoredKey): void {
    const now = clock.now();
    const note = key.sessionId === undefined ? touchKey : touchSession;
    const notSince = new Date(now.getTime() - TOUCH_MS);
    if (!unlessExpired(key) || (key.lastUsedAt && key.lastUsedAt > notSince)) return;
    void notes(key.workspaceId, () => database.inEngine((tx) => note(tx, key, now, notSince))).catch((error) =>
      log.warn({ err: error }, 'the use of a key was not noted'),
    );
  }

  const unlessExpired = (key: StoredKey | undefined) =>
    key?.expiresAt && key.expiresAt <= clock.now() ? undefined : key;

  const authenticateHash: KeyRing['authenticateHash'] = (hash) => {
    const known = remembered.get(hash);
    if (known && performance.now() - known.at < HOLDS_MS) return unlessExpired(known.key);
    return look(hash).then(unlessExpired);
  };

  return {
    authenticate: (key) => (KEY_PATTERN.test(key) ? authenticateHash(hashKey(key)) : undefined),
    authenticateHash,
    authenticateSession(secret) {
      const found = authenticateHash(hashKey(secret));
      return found instanceof Promise ? found.then(ifSession) : ifSession(found);
    },
    forget: (hash) => void remembered.set(hash, { key: undefined, at: performance.now() }),
    close: notes.idle,
  };
}

const isSession = (key: StoredKey): key is StoredSession => key.sessionId !== undefined;

/** A key is none, though its text may look like a cookie's. */
const ifSession = (found: StoredKey | undefined) => (found && isSession(found) ? found : undefined);
