import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { type CopyStreamQuery, from as copyFrom } from 'pg-copy-streams';
import { Client } from '../../foundation/database/client.ts';
import type { Connection } from '../../foundation/database/connection.ts';
import { type SilenceWatch, watchSilence } from '../../foundation/database/silence.ts';
import { lowerProcess } from '../../foundation/values/low-priority.ts';
import { COPY_HEADER, COPY_TRAILER } from './copy-rows.ts';
import { uploadLock } from './upload-lock.ts';

/** Rows of one COPY, and so of one transaction: long ones would keep the database from tidying up. */
const ROWS_PER_COPY = 50_000;
/**
 * What one connection is sent before the other has its turn, some 6,000 rows. Two that enter rows which stand side by side
 * wait for each other's pages of the indexes.
 */
const BYTES_PER_TURN = 1_000_000;
const LONGEST_CONNECT_MS = 10_000;
const NUMBERS_AT_ONCE = 10_000;
const CHANGE = (set: string) =>
  `update contact_list_entries_all set ${set} where workspace_id = $1 and upload_id = $2 and phone_number = any($3::bigint[])`;
const FORBID = CHANGE('do_not_call = true');
const REFUSE = CHANGE(`consent = '{"given": false}'`);
const ERASE = 'delete from contact_list_entries_all where workspace_id = $1 and upload_id = $2';

/**
 * The rows of an upload on their way into the database, over two connections: PostgreSQL takes twice as long to enter a row
 * into the indexes as it takes to read one from the file.
 */
export interface Staging {
  /** Sends so many rows as COPY takes them; waits only at the beginning of a turn, while both connections are busy. */
  write(bytes: Buffer, rows: number): Promise<void>;
  /** Resolves when all that was written is committed. */
  flush(): Promise<void>;
  /** Notes of written rows, by their numbers, that nobody is to call them, or that they have refused. */
  forbid(numbers: { forbidden: readonly number[]; refused: readonly number[] }): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects, takes the upload's lock, and erases what an earlier validation has left once `begin` answers that there is
 * something to do.
 * @returns nothing where there is not
 * @throws where another process holds the lock
 */
export async function openStaging(
  connection: Connection,
  { workspaceId, uploadId }: { workspaceId: string; uploadId: string },
  begin: () => Promise<boolean>,
): Promise<Staging | undefined> {
  const newClient = () =>
    new Client({
      ...connection,
      connectionTimeoutMillis: LONGEST_CONNECT_MS,
      application_name: 'trunkline import',
    }).on('error', () => {});
  const clients = [newClient(), newClient()];
  // Who waits fails, and tells why.
  const watch = watchSilence(connection, () => {});
  const each = (act: (client: pg.Client) => Promise<unknown>) =>
    Promise.all(clients.map((client) => watch.during(client, () => act(client))));
  const close = async () => {
    await each((client) => client.end());
    watch.close();
  };
  try {
    await Promise.all(clients.map((client) => client.connect()));
    await Promise.all(clients.map(watch.meets));
    if (connection.isEmbedded) await Promise.all(clients.map((client) => lowerProcess(backendOf(client))));
    // What says that all rows are there is committed after them, and reaches the disk behind them.
    await each((client) => client.query('set synchronous_commit = off'));
    await holdLock(clients, uploadLock(uploadId), watch);
    if (!(await begin())) {
      await close();
      return undefined;
    }
    await watch.during(clients[0]!, () => clients[0]!.query(ERASE, [workspaceId, uploadId]));
  } catch (error) {
    await close();
    throw error;
  }
  const lanes = clients.map((client) => new Lane(client, watch));
  let lane: Lane | undefined;
  let sent = 0;
  return {
    write: async (bytes, rows) => {
      lane ??=
        lanes.find(({ busy }) => !busy) ?? (await Promise.race(lanes.map((each) => each.busy!.then(() => each))));
      lane.write(bytes, rows);
      sent += bytes.length;
      if (sent < BYTES_PER_TURN) return;
      lane.endTurn();
      lane = undefined;
      sent = 0;
    },
    flush: async () => void (await Promise.all(lanes.map((lane) => lane.flush()))),
    forbid: async ({ forbidden, refused }) => {
      for (const [change, numbers] of [
        [FORBID, forbidden],
        [REFUSE, refused],
      ] as const)
        for (let at = 0; at < numbers.length; at += NUMBERS_AT_ONCE) {
          const values = [workspaceId, uploadId, numbers.slice(at, at + NUMBERS_AT_ONCE)];
          await watch.during(clients[0]!, () => clients[0]!.query(change, values));
        }
    },
    close,
  };
}

/** The process that serves it, as PostgreSQL tells who connects; nothing stands between us and the embedded one. */
const backendOf = (client: pg.Client): number => (client as unknown as { processID: number }).processID;

/** One session takes the lock alone, and then shares it with the others: it is free when none of them lives. */
async function holdLock([first, ...others]: pg.Client[], key: string, watch: SilenceWatch): Promise<void> {
  const ask = (client: pg.Client, text: string) => watch.during(client, () => client.query(text, [key]));
  const { rows } = await ask(first!, 'select pg_try_advisory_lock($1) as free');
  if (!rows[0].free) throw new Error('Another process still validates this upload.');
  const share = (client: pg.Client) => ask(client, 'select pg_advisory_lock_shared($1)');
  await share(first!);
  await ask(first!, 'select pg_advisory_unlock($1)');
  await Promise.all(others.map(share));
}

/** Copies into the partition itself, since COPY refuses tables with row-level security. */
class Lane {
  readonly #client: pg.Client;
  readonly #watch: SilenceWatch;
  #copy: CopyStreamQuery | undefined;
  #rows = 0;
  /** Until it takes more. */
  busy: Promise<unknown> | undefined;

  constructor(client: pg.Client, watch: SilenceWatch) {
    this.#client = client;
    this.#watch = watch;
  }

  write(bytes: Buffer, rows: number): void {
    this.#copy ??= this.#begin();
    this.#rows += rows;
    this.#copy.write(bytes);
  }

  #begin(): CopyStreamQuery {
    const copy = this.#client.query(
      copyFrom(`copy contact_list_entries_all
        (workspace_id, upload_id, phone_number, row_number, name, timezone, "values", do_not_call, consent)
        from stdin (format binary)`),
    );
    copy.write(COPY_HEADER);
    return copy;
  }

  endTurn(): void {
    if (this.#rows >= ROWS_PER_COPY) this.#wait(this.#end());
    else if (this.#copy?.writableNeedDrain) this.#wait(this.#answered(once(this.#copy, 'drain')));
  }

  async flush(): Promise<void> {
    await this.busy;
    await this.#end();
  }

  #wait(until: Promise<unknown>): void {
    const busy = until.then(() => {
      this.busy = undefined;
    });
    // Who waits for it is told; nobody may.
    busy.catch(() => {});
    this.busy = busy;
  }

  async #end(): Promise<void> {
    const copy = this.#copy;
    this.#copy = undefined;
    this.#rows = 0;
    if (!copy) return;
    copy.end(COPY_TRAILER);
    await this.#answered(finished(copy));
  }

  #answered(until: Promise<unknown>): Promise<unknown> {
    return this.#watch.during(this.#client, () => until);
  }
}
