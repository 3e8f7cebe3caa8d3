import { type RawBuilder, sql } from 'kysely';
import type { Logger } from 'pino';
import { createMachineClock, type MachineClock } from '../values/clock.ts';
import { newUuid } from '../values/ids.ts';
import { type Database, type EngineTx, openDatabase } from './database.ts';
import { migrations } from './migrate.ts';
import { serverVersion } from './versions.ts';

/**
 * This process's place among the servers. What it claims bears its ID; when its lease ends, another server takes that
 * over. Time is the database's (dialing.md, "Leases").
 */
export interface Lease {
  /** The ID that claims bear. A lease that was lost is taken anew under another ID. */
  serverId(): string;
  /**
   * Whether this process may claim and place: its lease holds by the time that has passed, so that one that was frozen sees
   * here that it must not go on, and the machine's clock is right.
   */
  isHeld(): boolean;
  /**
   * How long it holds yet, in milliseconds, if it isn't renewed; 0 where it does not hold. The time that has passed stands
   * still while the machine sleeps, so that its clock is asked too: a jump ahead of more than is left counts.
   */
  leftMs(): number;
  /**
   * Since when it was renewed without a gap, by `performance.now()`: a renewal that came later than half a lease after the
   * one before may mean that others have lost theirs.
   */
  steadySince(): number;
  /** Ends the lease at once, at `-infinity`, so that others need not wait for it and know that nothing went wrong. */
  release(): Promise<void>;
}

/** What a lease is taken with. */
export interface LeaseOptions {
  database: Pick<Database, 'connection'> & Partial<Pick<Database, 'outage'>>;
  seconds: number;
  log: Logger;
  machine?: MachineClock;
  /** Where clients reach this server itself, if that is not where they reach all. */
  url?: string | undefined;
}

/** How often the clocks are compared again at once where the database answers too slowly; after that, at each renewal. */
const MOST_LOOKS = 5;

/**
 * Takes a lease of `seconds` and renews it thrice in that time until it is released, on a connection of its own, which no
 * other work can hold up. Each time the machine's clock is compared with the database's.
 */
export async function openLease(options: LeaseOptions): Promise<Lease> {
  const { seconds, log, machine = createMachineClock(), url = null } = options;
  const { connection, outage } = options.database;
  const database = openDatabase({ connection, poolSize: 1, log, ...(outage && { outage }) });
  let id = newUuid();
  const leaseMs = seconds * 1000;
  const readClocks = () => ({ passed: performance.now(), read: machine.read() });
  let heldUntil = readClocks();
  let renewedAt = Number.NEGATIVE_INFINITY;
  let steadySince = 0;
  const leftMs = () => Math.max(0, Math.min(heldUntil.passed - performance.now(), heldUntil.read - machine.read()));
  /** It was renewed. @param asked when that was asked for */
  const hold = (asked: typeof heldUntil) => {
    heldUntil = { passed: asked.passed + leaseMs, read: asked.read + leaseMs };
    const at = performance.now();
    if (at - renewedAt > leaseMs / 2) steadySince = at;
    renewedAt = at;
  };

  /** Runs a statement that answers the database's time, and whether it did. */
  const timed = async ({ db }: EngineTx, statement: RawBuilder<{ now: Date }>): Promise<boolean> => {
    const asked = performance.now();
    const { rows } = await statement.execute(db);
    if (rows[0]) machine.compare(asked, rows[0].now);
    return rows.length === 1;
  };
  let wasRight = true;
  const tellOfClock = () => {
    const fault = machine.fault();
    if ((fault === undefined) === wasRight) return;
    wasRight = fault === undefined;
    if (wasRight) log.info('the clock of this machine is right again');
    else log.warn({ aheadMs: machine.aheadMs() }, fault);
  };

  const take = async () => {
    const asked = readClocks();
    await database.inEngine((tx) =>
      timed(
        tx,
        sql<{
          now: Date;
        }>`insert into servers (id, version, url, renewed_at, lease_until)
            values (${id}, ${serverVersion(migrations)}, ${url}, clock_timestamp(),
              clock_timestamp() + make_interval(secs => ${seconds}))
            returning clock_timestamp() as now`,
      ),
    );
    hold(asked);
    // A first answer may be slow: the connection is new, and so are the plans. Until one comes in time nothing is known.
    for (let again = 0; machine.aheadMs() === undefined && again < MOST_LOOKS; again += 1)
      await database.inEngine((tx) => timed(tx, sql<{ now: Date }>`select clock_timestamp() as now`));
    tellOfClock();
  };
  const renew = async () => {
    const asked = readClocks();
    const isRenewed = await database.inEngine((tx) =>
      timed(
        tx,
        sql<{ now: Date }>`update servers set renewed_at = clock_timestamp(),
              lease_until = clock_timestamp() + make_interval(secs => ${seconds})
            where id = ${id} and lease_until > clock_timestamp() returning clock_timestamp() as now`,
      ),
    );
    tellOfClock();
    if (isRenewed) return hold(asked);
    log.warn({ serverId: id }, 'the lease of this server was lost; its calls go on elsewhere');
    id = newUuid();
    renewedAt = Number.NEGATIVE_INFINITY;
    await take();
  };

  await take().catch(async (error) => {
    await database.close();
    throw error;
  });
  const renewals = everyInTurn(leaseMs / 3, () =>
    renew().catch((error) => log.warn({ err: error }, 'the lease could not be renewed')),
  );

  return {
    serverId: () => id,
    isHeld: () => leftMs() > 0 && machine.isRight(),
    leftMs,
    steadySince: () => steadySince,
    release: async () => {
      await renewals.close();
      heldUntil = readClocks();
      await database
        .inEngine(({ db }) => sql`update servers set lease_until = '-infinity' where id = ${id}`.execute(db))
        .finally(() => database.close());
    },
  };
}

/**
 * Runs something over and over, one at a time: of the renewals that gather while the database is away each would take a lease
 * of its own. `close` resolves when the last is over.
 */
function everyInTurn(ms: number, run: () => Promise<void>): { close(): Promise<void> } {
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = undefined;
    });
  }, ms);
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Keeps a server from being given up until the transaction ends, so that what it is given then is not left behind with it.
 * Answers false where it was given up already: nothing may be given to it.
 */
export async function holdServer({ db }: EngineTx, serverId: string): Promise<boolean> {
  const { rows } = await sql`select from servers where id = ${serverId} for key share`.execute(db);
  return rows.length > 0;
}
