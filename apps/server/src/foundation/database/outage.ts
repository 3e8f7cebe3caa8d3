import type { Logger } from 'pino';

/** What became of connections, to be told to whoever keeps the server. */
export interface Outage {
  /** A connection was lost. */
  lost(reason: string): void;
  /** None could be made. */
  failed(reason: string): void;
  /** One was made. */
  made(): void;
}

/** How often an outage is told of, in milliseconds, and how long one is waited for before lost connections are. */
const APART_MS = 60_000;
const WAIT_MS = 1000;

/**
 * Tells of a database that can't be reached: a line when it goes, one a minute, and one when it is back. Connections that
 * are lost while it answers are one line a second at most. One that comes and goes is told of once a minute.
 */
export function tellOfOutages(log: Logger): Outage {
  let began: number | undefined;
  let told: number | undefined;
  let connections = 0;

  return {
    lost: (reason) => {
      connections += 1;
      if (connections > 1) return;
      setTimeout(() => {
        if (began === undefined) log.warn({ connections, reason }, 'database connections were lost');
        connections = 0;
      }, WAIT_MS).unref();
    },
    failed: (reason) => {
      const now = performance.now();
      if (told !== undefined && now - told < APART_MS) return;
      told = now;
      if (began === undefined) log.error({ reason }, 'the database can not be reached; all that needs it waits');
      else log.error({ reason, seconds: Math.round((now - began) / 1000) }, 'the database still can not be reached');
      began ??= now;
    },
    made: () => {
      if (began === undefined) return;
      log.warn({ seconds: Math.round((performance.now() - began) / 1000) }, 'the database can be reached again');
      began = undefined;
    },
  };
}
