import { createHmac } from 'node:crypto';
import { MAGIC_COOKIE } from './via.ts';

/** What names a call on the wire before anything was sent. */
export interface CallIdentifiers {
  callId: string;
  fromTag: string;
  /** Of the first INVITE; those that follow a challenge add `.1`, `.2` and so on. */
  branch: string;
}

/**
 * Identifiers that anybody who holds the secret can derive again, and nobody else can guess: a process that was
 * restarted cancels a call on the branch that the one before it used.
 *
 * @param key names the call, such as the ID of an attempt
 */
export function deriveIdentifiers(secret: string | Buffer, key: string): CallIdentifiers {
  const part = (what: string) => createHmac('sha256', secret).update(`${what}\0${key}`).digest('hex');
  return {
    callId: part('call-id').slice(0, 32),
    fromTag: part('tag').slice(0, 16),
    branch: `${MAGIC_COOKIE}${part('branch').slice(0, 24)}`,
  };
}
