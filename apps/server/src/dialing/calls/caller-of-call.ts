import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { spread } from '../../foundation/values/spread.ts';
import { pickPoolNumber } from '../../lines/number-pools/choose-numbers.ts';
import { outlooksFor, poolFreeAt } from '../../lines/number-pools/free-at.ts';
import { countryOfNumber } from '../../lines/phone-numbers/numbering-plan.ts';
import { providers } from '../../lines/phone-numbers/phone-number.ts';
import { lockTrunkRooms, type TrunkRoom } from '../../lines/trunks/trunk-room.ts';
import type { CallAnswer, CallTerms, CallWish } from './call-wish.ts';
import type { IsSimulated, mayDial } from './may-dial.ts';
import type { Caller } from './queue-calls.ts';

/** How far ahead it may start at most, for the trunk's pace, in milliseconds. */
export const AHEAD_MS = 2000;
/** Within so long calls look again for room of a trunk or an agent, each at another time, in milliseconds. */
const BUSY_MS = 5000;

/** A time so many milliseconds later. */
export const after = (now: Date, milliseconds: number) => new Date(now.getTime() + milliseconds);

/**
 * Whether a person may be called from a pool, and from which of its numbers: while only the hours that nobody has set are in
 * the way, from those for which no telephone rings, if it has one that is ready.
 */
export async function judgePool(
  tx: Tx,
  workspaceId: string,
  poolId: string,
  judge: (simulated: boolean) => ReturnType<typeof mayDial>,
  { now, isSimulated }: CallTerms,
): Promise<{ answer: ReturnType<typeof mayDial>; isSimulated: IsSimulated }> {
  const answer = judge(false);
  const free = answer && 'blocked' in answer ? judge(true) : answer;
  if (!answer || isDeepStrictEqual(answer, free)) return { answer, isSimulated };
  const simulators = providers.filter((provider) => isSimulated(provider));
  const isReady = await poolFreeAt(tx, { workspaceId, poolId, now, providers: simulators });
  return { answer: isReady ? free : answer, isSimulated: (provider) => isSimulated(provider) || undefined };
}

/** A number to call from, and its trunk, held, where it has one. */
export interface HeldCaller {
  caller: Caller | undefined;
  trunk: TrunkRoom | undefined;
}

/** A number of the workspace, and its trunk. */
export async function fromNumber(tx: Tx, caller: Caller | undefined, workspaceId: string): Promise<HeldCaller> {
  const [trunk] = await lockTrunkRooms(tx, workspaceId, caller?.trunkId ? [caller.trunkId] : []);
  return { caller, trunk };
}

/** Calls that wait for one trunk or agent look at different times: all at once they would only take turns at its lock. */
export const lookAgainAt = (wish: Pick<CallWish, 'owner'>, from: Date) =>
  after(from, spread(wish.owner.id, from.getTime()) * BUSY_MS);

/** It waits for its trunk. */
export function trunkBusy(wish: CallWish, freeAt: Date, now: Date): CallAnswer {
  return { kind: 'blocked', reason: 'trunk_busy', until: lookAgainAt(wish, freeAt > now ? freeAt : now) };
}

/** Why there is no number to call from: those that there are wait for their trunks, or these are paused, or neither. */
export async function withoutCaller(
  tx: Tx,
  wish: CallWish,
  toNumber: number,
  { now, isSimulated }: CallTerms,
): Promise<CallAnswer> {
  const { workspaceId, from } = wish;
  if ('poolId' in from) {
    const callee = { toNumber, country: countryOfNumber(toNumber) };
    const configured = providers.filter((provider) => isSimulated(provider) !== undefined);
    const query = { workspaceId, poolId: from.poolId, now, providers: configured };
    const [outlook] = await outlooksFor(tx, query, [callee]);
    const { refusal, freeAt } = outlook!;
    if (refusal === 'invalid_number') return { kind: 'refused', outcome: refusal };
    const soon = freeAt !== undefined && freeAt > now && freeAt < after(now, 2 * BUSY_MS);
    return soon ? trunkBusy(wish, freeAt, now) : { kind: 'blocked', reason: 'no_caller_id' };
  }
  const { rows } = await sql`
    select from phone_numbers n join trunks t on t.workspace_id = n.workspace_id and t.id = n.trunk_id
    where n.workspace_id = ${workspaceId} and n.phone_number = ${from.number} and n.status = 'active' and t.status = 'paused'
    limit 1`.execute(tx.db);
  return { kind: 'blocked', reason: rows.length > 0 ? 'trunk_paused' : 'no_caller_id' };
}

/** A member of the wish's pool that can call now, rather another than its owner's last attempt had. */
export async function fromPool(
  tx: Tx,
  wish: CallWish,
  poolId: string,
  to: number,
  { now, isSimulated }: CallTerms,
): Promise<HeldCaller> {
  const { workspaceId } = wish;
  const avoid = await lastNumber(tx, wish);
  const picked = await pickPoolNumber(tx, workspaceId, poolId, {
    ...{ to, now, isSimulated, avoid },
    lastStart: after(now, AHEAD_MS),
  });
  if (!picked) return { caller: undefined, trunk: undefined };
  const { trunk, ...number } = picked;
  return { caller: { ...number, simulated: isSimulated(number.provider)!, pooled: true }, trunk };
}

/** The number that the owner's last attempt was placed from. */
async function lastNumber(tx: Tx, { workspaceId, owner, attempt }: CallWish) {
  if (attempt === 1) return undefined;
  const { rows } = await sql<{ phone_number_id: string }>`
    select phone_number_id from calls
    where workspace_id = ${workspaceId} and owner_id = ${owner.id} and attempt = ${attempt - 1}`.execute(tx.db);
  return rows[0]?.phone_number_id;
}
