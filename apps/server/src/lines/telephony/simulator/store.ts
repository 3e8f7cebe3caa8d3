import { sql } from 'kysely';
import type { Database, EngineTx } from '../../../foundation/database/database.ts';
import type { Lease } from '../../../foundation/database/lease.ts';
import type { Row } from '../../../foundation/database/schema.ts';
import { NotWitnessed } from '../../../platform/installation/raise-number.ts';
import type { RestoreGuard } from '../../../platform/installation/restore-guard.ts';
import type { EndedBy } from '../call-outcome.ts';
import type { StoredCall, StoredEnd } from './progress.ts';

/** What outlives the process: the memory of the provider that the simulator plays. */
export interface SimulatorStore {
  /**
   * Keeps calls, each room once; a room already kept counts another placement. Answers with the rooms that are new.
   * Throws, and keeps none, if `isLate` says so when the store is reached, or `NotWitnessed`.
   */
  insert(calls: StoredCall[], isLate: () => boolean): Promise<Set<string>>;
  /** The calls of these rooms that are kept. */
  find(roomIds: string[]): Promise<Map<string, StoredCall>>;
  /** Ends calls that nobody ended yet; answers with the rooms that this has ended. */
  end(ends: ({ roomId: string } & StoredEnd)[]): Promise<Set<string>>;

  /** Which of these numbers are bought. */
  findBought(phoneNumbers: string[]): Promise<Set<string>>;
  /** Keeps a purchase unless number or key are taken; answers with every purchase that has the one or the other. */
  buy(purchase: Purchase, at: Date): Promise<Purchase[]>;
  findPurchase(idempotencyKey: string): Promise<Purchase | undefined>;
  release(phoneNumber: string): Promise<void>;
}

export interface Purchase {
  phoneNumber: string;
  idempotencyKey: string;
}

type CallRow = Row<'simulator_calls'>;

const storedCall = (row: CallRow): StoredCall => ({
  roomId: row.room_id,
  to: row.to_number,
  attempt: row.attempt,
  placedAt: row.placed_at,
  ringTimeoutSeconds: row.ring_timeout_seconds,
  maxCallSeconds: row.max_call_seconds,
  placements: row.placements,
  ...(row.ended_at && {
    ended: { at: row.ended_at, by: row.ended_by as EndedBy, outcome: row.outcome as StoredEnd['outcome'] },
  }),
});

/**
 * The store in PostgreSQL: `simulator_calls` and `simulator_numbers`, which belong to no workspace.
 * @param lease whose calls they are that are placed
 */
export function postgresStore(
  database: Database,
  guard: Pick<RestoreGuard, 'keepCalls'>,
  lease: Pick<Lease, 'serverId'>,
): SimulatorStore {
  return {
    async insert(calls, isLate) {
      const server = lease.serverId();
      const keep = async (tx: EngineTx) => {
        if (isLate()) throw new Error('the calls came too late');
        const { rows } = await sql<{ room_id: string; placements: number }>`
          insert into simulator_calls
            (room_id, to_number, attempt, placed_at, ring_timeout_seconds, max_call_seconds, placements)
          select * from unnest(
            ${calls.map(({ roomId }) => roomId)}::uuid[], ${calls.map(({ to }) => to)}::text[],
            ${calls.map(({ attempt }) => attempt)}::int[], ${calls.map(({ placedAt }) => placedAt)}::timestamptz[],
            ${calls.map((call) => call.ringTimeoutSeconds)}::int[], ${calls.map((call) => call.maxCallSeconds)}::int[],
            ${calls.map(({ placements }) => placements)}::int[])
          on conflict (room_id) do update set placements = simulator_calls.placements + excluded.placements
          returning room_id, placements`.execute(tx.db);
        const asked = new Map(calls.map(({ roomId, placements }) => [roomId, placements]));
        // A room that was kept already has more placements than were asked for now.
        return new Set(rows.filter((row) => row.placements === asked.get(row.room_id)).map((row) => row.room_id));
      };
      if (!calls.some((call) => call.placing)) return database.inHotLoop(keep);
      const { result, isWitnessed } = await guard.keepCalls(keep, (added) =>
        calls.flatMap(({ placing, roomId, attempt, to }) =>
          placing && added.has(roomId) ? { roomId, attempt, to, ...placing } : [],
        ),
      );
      if (isWitnessed) return result;
      // What a server that was frozen has placed, another may have taken over meanwhile, and followed to its end.
      const owned = calls.filter(({ roomId, placing }) => placing && result.has(roomId));
      await database.inHotLoop((tx) =>
        sql`
          delete from simulator_calls s using unnest(${owned.map(({ placing }) => placing!.workspaceId)}::uuid[],
            ${owned.map(({ roomId }) => roomId)}::uuid[]) as x (workspace_id, room_id)
          where s.room_id = x.room_id and not exists (select from calls c
            where c.workspace_id = x.workspace_id and c.id = x.room_id and c.server_id is distinct from ${server})`.execute(
          tx.db,
        ),
      );
      throw new NotWitnessed();
    },
    async find(roomIds) {
      const { rows } = await database.inHotLoop((tx) =>
        sql<CallRow>`select * from simulator_calls where room_id = any(${roomIds}::uuid[])`.execute(tx.db),
      );
      return new Map(rows.map((row) => [row.room_id, storedCall(row)]));
    },
    async end(ends) {
      const { rows } = await database.inHotLoop((tx) =>
        sql<{ room_id: string }>`
          update simulator_calls set ended_at = e.at, ended_by = e.by, outcome = e.outcome
          from unnest(
            ${ends.map(({ roomId }) => roomId)}::uuid[], ${ends.map(({ at }) => at)}::timestamptz[],
            ${ends.map(({ by }) => by)}::text[], ${ends.map(({ outcome }) => outcome)}::text[]
          ) as e(room_id, at, by, outcome)
          where simulator_calls.room_id = e.room_id and simulator_calls.ended_at is null
          returning simulator_calls.room_id`.execute(tx.db),
      );
      return new Set(rows.map((row) => row.room_id));
    },
    async findBought(phoneNumbers) {
      const { rows } = await database.inEngine((tx) =>
        sql<{ phone_number: string }>`
          select phone_number from simulator_numbers where phone_number = any(${phoneNumbers}::text[])`.execute(tx.db),
      );
      return new Set(rows.map((row) => row.phone_number));
    },
    async buy({ phoneNumber, idempotencyKey }, at) {
      return database.inEngine(async (tx) => {
        await sql`
          insert into simulator_numbers (phone_number, idempotency_key, bought_at)
          values (${phoneNumber}, ${idempotencyKey}, ${at}) on conflict do nothing`.execute(tx.db);
        // A second statement, so that it sees the winner of a race.
        const { rows } = await sql<Purchase>`
          select phone_number as "phoneNumber", idempotency_key as "idempotencyKey" from simulator_numbers
          where phone_number = ${phoneNumber} or idempotency_key = ${idempotencyKey}`.execute(tx.db);
        return rows;
      });
    },
    async findPurchase(idempotencyKey) {
      const { rows } = await database.inEngine((tx) =>
        sql<Purchase>`
          select phone_number as "phoneNumber", idempotency_key as "idempotencyKey" from simulator_numbers
          where idempotency_key = ${idempotencyKey}`.execute(tx.db),
      );
      return rows[0];
    },
    async release(phoneNumber) {
      await database.inEngine((tx) =>
        sql`delete from simulator_numbers where phone_number = ${phoneNumber}`.execute(tx.db),
      );
    },
  };
}
