import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { NoPrimary } from './primary.ts';

const PAUSE_MS = 250;
const TELL_MS = 10_000;
const LONGEST_CONNECT_MS = 10_000;

/**
 * Waits until the PostgreSQL of a connection takes clients, while nothing listens there or it says that it starts, and
 * tells so.
 * @param longestMs how long, in milliseconds
 * @throws what connecting failed with: the last time when the time is over, or at once where waiting helps nobody
 */
export async function waitForStart(connection: Connection, log: Logger, longestMs: number): Promise<void> {
  const goOn = tellOfWait(log, longestMs);
  for (;;) {
    const error = await connectOnce(connection);
    if (!error) return;
    if (!isStarting(error) || !goOn(reasonOf(error))) throw error;
    await sleep(PAUSE_MS);
  }
}

/**
 * Tells, at the first call and then every ten seconds, that PostgreSQL is waited for. The calls answer whether there is
 * time left.
 */
export function tellOfWait(log: Logger, longestMs: number): (reason?: string) => boolean {
  const began = performance.now();
  let tellAt = began;
  return (reason) => {
    const now = performance.now();
    if (now >= tellAt) {
      tellAt = now + TELL_MS;
      const seconds = { waitedSeconds: Math.round((now - began) / 1000), longestSeconds: longestMs / 1000 };
      log.warn({ reason, ...seconds }, 'waiting for PostgreSQL to start');
    }
    return now - began < longestMs;
  };
}

/** What a connection failed with. Where a host has several addresses, the error itself says nothing. */
export const reasonOf = (error: Error): string =>
  error instanceof AggregateError ? error.errors.map((each) => each.message).join(', ') : error.message;

async function connectOnce(connection: Connection): Promise<Error | undefined> {
  const client = new Client({ ...connection, connectionTimeoutMillis: LONGEST_CONNECT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    return error as Error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** No host is the primary yet; nothing listens yet; what stands before it, as Docker's proxy does, hangs up; or PostgreSQL says that it starts. */
function isStarting(error: Error): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error instanceof NoPrimary) return true;
  if (error instanceof pg.DatabaseError) return code === '57P03';
  return ['ECONNREFUSED', 'ECONNRESET', 'ENOENT'].includes(code) || error.message.startsWith('Connection terminated');
}
