import type { Secrets } from '../../foundation/database/secrets.ts';
import { canonicalBytes } from '../../foundation/values/canonical-base64.ts';
import type { Begun } from './identity-provider.ts';

const PLACE = 'sign-in';
const LASTS_MS = 10 * 60_000;

/** How long a browser may take to come back, in seconds. */
export const BEGUN_SECONDS = LASTS_MS / 1000;

/** Seals a sign-in that has begun for the browser's cookie, until the session takes its place: nothing is kept of it here. */
export function sealBegun(secrets: Secrets, begun: Begun, now: Date): string {
  const sealed = secrets.encrypt(JSON.stringify({ ...begun, expires: now.getTime() + LASTS_MS }), PLACE);
  return Buffer.from(sealed).toString('base64url');
}

/** What was sealed, if it is of this server and its time is not over. */
export function openBegun(secrets: Secrets, value: string | undefined, now: Date): Begun | undefined {
  if (value === undefined) return undefined;
  try {
    const sealed = canonicalBytes(value, 'base64url')!.toString();
    const { expires, ...begun } = JSON.parse(secrets.decrypt(sealed, PLACE)) as Begun & { expires: number };
    return now.getTime() < expires ? begun : undefined;
  } catch {
    return undefined;
  }
}
