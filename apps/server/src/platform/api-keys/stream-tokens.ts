import type { Secrets } from '../../foundation/database/secrets.ts';
import { canonicalBytes } from '../../foundation/values/canonical-base64.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { KeyRing } from './key-ring.ts';
import type { StoredKey } from './key-store.ts';

/** For so long a token opens its stream. */
const OPENS_MS = 15 * 60_000;
const PLACE = 'stream token';

/** Tokens that open one event stream in place of a key. Nothing is kept of them: what they are for is sealed in them. */
export interface StreamTokens {
  /** @param keyHash of the key that asks for it, whose rights it has */
  make(keyHash: string, path: string): { token: string; expiresAt: Date };
  /**
   * Who opens a stream with a token, asked anew at each call: the key may be over by then, though the stream stays open
   * when the token's time is. Nothing where the token is not for this path, or not any more.
   */
  open(token: string, path: string): (() => StoredKey | undefined | Promise<StoredKey | undefined>) | undefined;
}

export function createStreamTokens({
  secrets,
  keyRing,
  clock,
}: {
  secrets: Secrets;
  keyRing: Pick<KeyRing, 'authenticateHash'>;
  clock: Clock;
}): StreamTokens {
  return {
    make(keyHash, path) {
      const expiresAt = new Date(clock.now().getTime() + OPENS_MS);
      const sealed = secrets.encrypt(
        JSON.stringify({ keyHash, path, expires: expiresAt.getTime() } satisfies Sealed),
        PLACE,
      );
      return { token: Buffer.from(sealed).toString('base64url'), expiresAt };
    },
    open(token, path) {
      const sealed = read(secrets, token);
      if (!sealed || sealed.path !== path || clock.now().getTime() >= sealed.expires) return undefined;
      return () => keyRing.authenticateHash(sealed.keyHash);
    },
  };
}

/** What a token says. `expires` is in milliseconds since 1970. */
interface Sealed {
  keyHash: string;
  path: string;
  expires: number;
}

function read(secrets: Secrets, token: string): Sealed | undefined {
  try {
    return JSON.parse(secrets.decrypt(canonicalBytes(token, 'base64url')!.toString(), PLACE));
  } catch {
    return undefined;
  }
}
