import { randomBytes } from 'node:crypto';

const HOUR_MS = 3600_000;

/** A session ends after so long, however much it is used: a day's work. */
export const SESSION_MS = 12 * HOUR_MS;

/** And after so long without a request. A page that is open, with its streams, keeps it. */
export const IDLE_MS = 2 * HOUR_MS;

/** What a key may have that hold. */
export const MOST_SESSIONS = 100;

/** A new secret for a cookie: 256 random bits. */
export const newSessionSecret = (): string => randomBytes(32).toString('base64url');
