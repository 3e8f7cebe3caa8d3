import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Measured } from '../observe/slot-metrics.ts';
import { Client } from './client.ts';
import type { Connection } from './connection.ts';
import { connectionShares } from './connection-shares.ts';
import {
  isDiskFull,
  isLockTimeout,
  isReadOnly,
  isRetriable,
  isStalePlan,
  notPrimary,
  tookTooLong,
  translated,
} from './errors.ts';
import { NUMBER_KEY } from './number-digest.ts';
import { type Outage, tellOfOutages } from './outage.ts';
import type { Schema } from './schema.ts';
import { watchPool } from './silence.ts';
import { namedStatements, type Statement } from './statements.ts';
import { inOneWrite } from './together.ts';
import { bindToClient } from './transaction-driver.ts';
import { columnTypes } from './types.ts';

declare const madeHere: unique symbol;

/** What is done in a transaction, whichever rows it sees. */
export interface Tx {
  readonly db: Kysely<Schema>;
  /** Has who waits for a resource, named by its UUID, told of its change once the transaction has committed. */
  readonly tell: (topic: string) => void;
  /** Says a line in the log, at `info`, once the transaction has committed. */
  readonly note: (fields: object, message: string) => void;
}

/** A transaction that sees the rows of one workspace only. */
export interface WorkspaceTx extends Tx {
  readonly workspaceId: string;
  readonly [madeHere]: 'workspace';
}

/** A transaction of the engine's loops, which sees the rows of every workspace. */
export interface EngineTx extends Tx {
  readonly [madeHere]: 'engine';
}

/** How a transaction of a workspace differs from others. */
export interface WorkspaceTxOptions {
  /** Its statements may take as long as they need, and wait for others as long: for background work on whole lists. */
  mayTakeLong?: boolean;
}

/**
 * The way to the database. Its functions commit what `fn` did when it returns and undo it when it throws. On a
 * deadlock or a serialization failure `fn` runs again, up to three times, and where it waited for a lock too, so it must do
 * nothing but query. They throw what `fn` throws, and `unavailable` when the connection fails; whether a commit cut off
 * that way took effect is then unknown.
 */
export interface Database {
  /**
   * Throws `unavailable` too where a statement takes longer than 30 s, or waits for locks of other transactions for 5 s, and
   * where transactions of the workspace hold its share of the connections for 10 s.
   * @param workspaceId the workspace's UUID
   */
  inWorkspace<T>(workspaceId: string, fn: (tx: WorkspaceTx) => Promise<T>, options?: WorkspaceTxOptions): Promise<T>;
  /** The same for reading: every statement of `fn` sees the database of one instant, so that what it reads fits together. */
  inSnapshot<T>(workspaceId: string, fn: (tx: WorkspaceTx) => Promise<T>): Promise<T>;
  /** For the engine's own work, in whatever workspace. */
  inEngine<T>(fn: (tx: EngineTx) => Promise<T>): Promise<T>;
  /**
   * The same for what runs all the time and by constant keys only: claims, placements, ends of calls, steps of runs, looks at
   * blocked ones and webhook deliveries. One plan serves all values of a statement, and it is never a scan of a table.
   */
  inHotLoop<T>(fn: (tx: EngineTx) => Promise<T>): Promise<T>;
  /** Calls `listener`, which must not throw, with what transactions told of, after their commit. */
  onTold(listener: (topic: string) => void): void;
  /** Calls `listener` when a connection was lost, and when a new one is to another PostgreSQL, or one that has started anew. */
  onDoubt(listener: () => void): void;
  /** What an operator should know of it, a line each. */
  faults(): string[];
  /** The connections that workspaces share. */
  readonly slots: Measured;
  readonly connection: Connection;
  /** What erased numbers are known by; nothing if it was opened without. */
  readonly numberKey: string | undefined;
  readonly pool: pg.Pool;
  readonly outage: Outage;
  close(): Promise<void>;
}

/** The engine's transaction for what is written about one workspace. Row-level security does not bind it. */
export const forWorkspace = (tx: Tx, workspaceId: string): WorkspaceTx =>
  ({ db: tx.db, tell: tx.tell, note: tx.note, workspaceId }) as WorkspaceTx;

/** What a transaction begins with on a connection. */
type Begin = (client: pg.ClientBase) => string;

const beginReading = 'begin isolation level repeatable read read only';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const RETRIES = 3;

/**
 * How long connections wait, in milliseconds, so that no process that is frozen keeps others waiting: what it has locked is
 * free once its transaction has idled for so long. What it still waits for is given up before, or a lock would pass
 * from one of its transactions to the next, each of them idling; a process that runs just waits again.
 */
const LIMITS = { idle_in_transaction_session_timeout: 3000, lock_timeout: 2500, statement_timeout: 30_000 };
/** After so long, in milliseconds, a transaction of a workspace that was kept from a lock does not begin to wait again. */
const WAITS_MS = 4000;

/** How long a transaction waits for a connection, in milliseconds. */
const CONNECT_MS = 10_000;

/** A connection that nobody uses closes after so long, in milliseconds: what looks twice a minute needs no new ones. */
export const IDLE_MS = 60_000;

/** So long after its last word a full disk is told of, in milliseconds: a server writes all the time. */
const FULL_MS = 60_000;

const beginEngine = `begin; set local trunkline.engine = 'on'; set local statement_timeout = 0`;

/**
 * Statements of the hot loop name rows by their keys, so one plan serves all values of a statement; planning it anew for
 * each took a fifth of a claim. A plan made while a table was small would scan it, and stay in use as it grows, until the
 * next ANALYZE: so scans, sorts and the joins that rest on them are off. PostgreSQL
 * 15 takes what is off and yet needed for very dear, and would compile it to machine code each time: so that is off too.
 */
const beginHotLoop = `${beginEngine}; set local enable_seqscan = off; set local enable_hashjoin = off;
  set local enable_mergejoin = off; set local enable_sort = off; set local jit = off;
  set local plan_cache_mode = force_generic_plan`;

/**
 * How long a connection keeps its plans for the engine, in milliseconds: as they are made, the planner looks how large tables
 * are.
 */
const PLANS_MS = 10_000;
const plannedAt = new WeakMap<pg.ClientBase, number>();

function withFreshPlans(client: pg.ClientBase, begin: string): string {
  const now = performance.now();
  if (now < (plannedAt.get(client) ?? 0) + PLANS_MS) return begin;
  plannedAt.set(client, now);
  return `discard plans; ${begin}`;
}

interface DatabaseOptions {
  connection: Connection;
  poolSize: number;
  log: Logger;
  /** What erased numbers are known by (`numberKey`); only what dials or erases needs it. */
  numberKey?: string;
  /** Who is told of lost connections: another pool's, so that one outage is told of once. */
  outage?: Outage;
}

function openPool(options: DatabaseOptions, outage: Outage, onDoubt: () => void): pg.Pool {
  const settings = { ...LIMITS, ...(options.numberKey && { [NUMBER_KEY]: options.numberKey }) };
  const pool = new pg.Pool({
    ...options.connection,
    Client,
    max: options.poolSize,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    onConnect: setterUp(settings, onDoubt),
    application_name: 'trunkline',
    types: columnTypes,
    // What is asked together goes out together, as a transaction's begin and its first query.
    pipeline: true,
  });
  // Without a listener a lost connection ends the process. Once when idle, and once when in use, where the query fails too.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    outage.made();
    client.on('error', (error) => {
      outage.lost(error.message);
      onDoubt();
    });
  });
  return pool;
}

/** Opens a pool of at most `poolSize` connections. It connects when first used. */
export function openDatabase(options: DatabaseOptions): Database {
  const { outage = tellOfOutages(options.log) } = options;
  let onDoubt = () => {};
  const pool = openPool(options, outage, () => onDoubt());
  const silence = watchPool(pool, options);

  const statement = namedStatements();
  const { slots, inTurn } = connectionShares(options.poolSize, CONNECT_MS);

  let fullAt = Number.NEGATIVE_INFINITY;
  const isFull = () => performance.now() - fullAt < FULL_MS;
  const noteFull = (error: unknown) => {
    if (!isFull()) options.log.error({ err: error }, "the database's disk is full");
    fullAt = performance.now();
  };

  let onTold = (_topic: string) => {};

  const inTransaction = async <T>(begin: Begin, fn: (tx: Tx) => Promise<T>, waitsMs: number): Promise<T> => {
    const began = performance.now();
    for (let attempt = 0; ; ) {
      const told = new Set<string>();
      const notes: [object, string][] = [];
      try {
        const tell = (topic: string) => told.add(topic);
        const note = (fields: object, message: string) => notes.push([fields, message]);
        const result = await once({ pool, statement, outage }, begin, (db) => fn({ db, tell, note }));
        for (const topic of told) onTold(topic);
        for (const [fields, message] of notes) options.log.info(fields, message);
        return result;
      } catch (error) {
        if (isDiskFull(error)) noteFull(error);
        if (isLockTimeout(error) && performance.now() - began < waitsMs) continue;
        if (attempt === RETRIES || !isRetriable(error)) throw error;
        await sleep(2 ** attempt * (5 + Math.random() * 15));
        attempt += 1;
      }
    }
  };
  const forOneWorkspace =
    (begin: string): Database['inWorkspace'] =>
    async (workspaceId, fn, { mayTakeLong } = {}) => {
      if (!uuidPattern.test(workspaceId)) throw new TypeError('A workspace is named by its UUID.');
      const limits = mayTakeLong ? '; set local statement_timeout = 0; set local lock_timeout = 0' : '';
      const beginThere = `${begin}; set local trunkline.workspace = '${workspaceId}'${limits}`;
      const work = () =>
        inTransaction(
          () => beginThere,
          (tx) => fn({ ...tx, workspaceId } as WorkspaceTx),
          WAITS_MS,
        );
      return inTurn(workspaceId, work).catch((error) => {
        throw tookTooLong(error);
      });
    };
  const forEngine =
    (begin: string): Database['inEngine'] =>
    (fn) =>
      inTransaction(
        (client) => withFreshPlans(client, begin),
        (tx) => fn(tx as EngineTx),
        Number.POSITIVE_INFINITY,
      );
  return {
    inWorkspace: forOneWorkspace('begin'),
    inSnapshot: forOneWorkspace(beginReading),
    inEngine: forEngine(beginEngine),
    inHotLoop: forEngine(beginHotLoop),
    onTold: (listener) => {
      onTold = listener;
    },
    onDoubt: (listener) => {
      onDoubt = listener;
    },
    faults: () => (isFull() ? ["the database's disk is full: nothing can be written"] : []),
    slots,
    ...{ connection: options.connection, numberKey: options.numberKey },
    ...{ pool, outage },
    close: async () => {
      await pool.end();
      silence.close();
    },
  };
}

/**
 * Sets up the connections of a pool. @param onOther called when one is to another PostgreSQL than the one before, which is
 * known by when it was started: nothing else tells of a primary whose machine is gone until a timeout does
 */
function setterUp(settings: Record<string, string | number>, onOther: () => void) {
  let known: string | undefined;
  return async (client: pg.ClientBase): Promise<void> => {
    const startedAt = await setUp(client, settings);
    if (known !== undefined && startedAt !== known) onOther();
    known = startedAt;
  };
}

/**
 * Sets what holds for a connection as long as it lives. Not as parameters of its start: a pooler refuses those, even in
 * session mode.
 * @returns when its PostgreSQL was started
 */
async function setUp(client: pg.ClientBase, settings: Record<string, string | number>): Promise<string> {
  const names = Object.keys(settings);
  const set = names.map((name, at) => `set_config('${name}', $${at + 1}, false)`);
  const { rows } = await client.query<{ started_at: string }>(
    `select ${set.join()}, pg_postmaster_start_time()::text as started_at`,
    Object.values(settings).map(String),
  );
  return rows[0]!.started_at;
}

/** Whether a connection was waited for too long since all were in use. */
const isPoolFull = (error: Error): boolean => error.message === 'timeout exceeded when trying to connect';

async function once<T>(
  { pool, statement, outage }: { pool: pg.Pool; statement: Statement; outage: Outage },
  begin: Begin,
  fn: (db: Kysely<Schema>) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error) => {
    if (!isPoolFull(error)) outage.failed(error.message);
    throw translated(error);
  });
  const { db, close, hasFailed } = bindToClient(client, statement);
  let discard = false;
  const send = (text: string) => {
    inOneWrite(client);
    return client.query(text).catch((error) => {
      discard = true;
      throw translated(error);
    });
  };
  // Its answer is waited for after the work: without a workspace or the engine's mark no row is seen or written.
  const beginning = begin(client);
  const begun = send(beginning);
  begun.catch(() => {});
  try {
    const result = await fn(db);
    await begun;
    await close();
    const committed = send('commit');
    // Nothing was changed, so nobody waits for it, which saves 4 % of a list's CPU time: what is asked next goes out behind.
    if (beginning.startsWith(beginReading) && !hasFailed()) {
      committed.catch(() => {});
      return result;
    }
    const { command } = await committed;
    // PostgreSQL answers so when `fn` has swallowed the error of one of its statements.
    if (command === 'ROLLBACK') throw new Error('The transaction had failed before its commit.');
    return result;
  } catch (error) {
    await close();
    await begun.catch(() => {});
    const isStandby = isReadOnly(error) && !beginning.startsWith(beginReading);
    discard ||= isStalePlan(error) || isStandby;
    if (!discard) await send('rollback').catch(() => {});
    throw isStandby ? notPrimary(error) : error;
  } finally {
    client.release(discard);
  }
}
