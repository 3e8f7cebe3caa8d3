import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { findIdempotencyKey, takeIdempotencyKey } from '../../foundation/database/idempotency-keys.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { notFound, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { PhoneNumberRow, Provider } from '../../lines/phone-numbers/phone-number.ts';
import { findNumber } from '../../lines/phone-numbers/store.ts';
import { whyNotFrom } from '../../lines/phone-numbers/why-not-from.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { askForCall } from '../calls/ask-for-call.ts';
import { fromE164 } from '../calls/call.ts';
import type { CallToPlace } from '../calls/place-calls.ts';
import type { Switchboard } from '../calls/switchboard.ts';
import { whyBlocked } from '../calls/why-blocked.ts';
import { TEST_CALL } from './own-calls.ts';
import { findTestCall, recentTestCalls, type TestCallRow } from './store.ts';

/** What test calls work with. */
export interface TestCallDeps {
  database: Database;
  clock: Clock;
  lease: Pick<Lease, 'serverId'>;
  switchboard: Pick<Switchboard, 'place' | 'free' | 'mayPlace' | 'isSimulated'>;
  /** Those that are configured on this server. */
  providers: readonly Provider[];
  operator: OperatorLimits;
}

/** A test call that is wanted. */
export interface TestCallOrder {
  workspaceId: string;
  /** UUID of the number that calls. */
  phoneNumberId: string;
  /** E.164. */
  toNumber: string;
  idempotencyKey: string | undefined;
  auditOf: AuditOf;
}

/** Against toll fraud, and for the peace of whoever is called: no more in an hour, and one at a time. */
const MOST_IN_HOUR = 20;
const RING_SECONDS = 40;
const TALK_SECONDS = 60;

const OPERATION = 'startTestCall';

/**
 * Rings a phone from a number, as an attempt that is committed before anything is sent and is never made again. Throws
 * `not_found`, `invalid_request`, `call_refused`, `limit_reached`, `idempotency_key_reused`, and `unavailable` where this
 * server can hold no more calls; nothing rings then.
 * @returns the test call, and whether an earlier request with this idempotency key has made it
 */
export async function startTestCall(
  deps: TestCallDeps,
  order: TestCallOrder,
): Promise<{ row: TestCallRow; replayed: boolean }> {
  const { database, switchboard } = deps;
  if (order.idempotencyKey !== undefined) {
    // Before all that may have changed since: what was accepted once is not refused when it is asked for again.
    const earlier = await database.inWorkspace(order.workspaceId, (tx) => earlierOf(tx, order));
    if (earlier) return { row: earlier, replayed: true };
  }
  // Outside of the transaction that locks the workspace: it may pause all of them.
  if (!(await switchboard.mayPlace()))
    throw refused(
      'Nothing is placed now: the database was restored, or the server can not tell its witness of the call.',
    );
  const { row, call } = await database.inWorkspace(order.workspaceId, async (tx) => {
    // Whoever asks for another one waits: what is counted here holds until the commit.
    await sql`select from workspaces where id = ${tx.workspaceId} for no key update`.execute(tx.db);
    const earlier = await earlierOf(tx, order);
    if (earlier) return { row: earlier, call: undefined };
    if (switchboard.free(tx.workspaceId) <= 0)
      throw new ServiceError('unavailable', 'This server has as many calls as it can place now.');
    const call = await queueTestCall(tx, deps, order);
    return { row: (await findTestCall(tx, call.roomId))!, call };
  });
  if (call) switchboard.place([call]);
  return { row, replayed: call === undefined };
}

const requestOf = ({ phoneNumberId, toNumber }: TestCallOrder) => ({ phoneNumberId, toNumber });

/** What an earlier request with this key has made. */
async function earlierOf(tx: WorkspaceTx, order: TestCallOrder): Promise<TestCallRow | undefined> {
  const { idempotencyKey: key } = order;
  if (key === undefined) return undefined;
  const roomId = await findIdempotencyKey(tx, { operation: OPERATION, key, request: requestOf(order) });
  return roomId === undefined ? undefined : findTestCall(tx, roomId);
}

async function queueTestCall(tx: WorkspaceTx, deps: TestCallDeps, order: TestCallOrder): Promise<CallToPlace> {
  const { phoneNumberId, toNumber, idempotencyKey: key } = order;
  const now = deps.clock.now();
  const number = await findNumber(tx, phoneNumberId);
  if (!number) throw notFound();
  await checkPace(tx, now);
  const call = await requestCall(tx, deps, number, toNumber, now);
  await tx.db
    .insertInto('test_calls')
    .values({
      ...{ workspace_id: tx.workspaceId, room_id: call.roomId, phone_number_id: number.id },
      ...{ from_number: fromE164(number.phone_number), to_number: fromE164(toNumber), requested_at: now },
      simulated: deps.switchboard.isSimulated(number.provider) === true,
    })
    .execute();
  const resourceId = call.roomId;
  if (key !== undefined) {
    await takeIdempotencyKey(tx, { operation: OPERATION, key, request: requestOf(order), resourceId, now });
  }
  await audit(tx, order.auditOf('call.test_started', 'call', toId('room', call.roomId)), now);
  return call;
}

async function checkPace(tx: WorkspaceTx, now: Date): Promise<void> {
  const { made, up } = await recentTestCalls(tx, now);
  if (up > 0) throw new ServiceError('limit_reached', 'A test call is up already. End it, or wait until it is over.');
  if (made >= MOST_IN_HOUR) {
    throw new ServiceError(
      'limit_reached',
      `A workspace makes ${MOST_IN_HOUR} test calls in an hour. Wait for a while.`,
    );
  }
}

async function requestCall(
  tx: WorkspaceTx,
  { lease, switchboard, providers, operator }: TestCallDeps,
  number: PhoneNumberRow,
  to: string,
  now: Date,
): Promise<CallToPlace> {
  const { isSimulated } = switchboard;
  const fault = (message: string) => refuse([{ path: '/body/toNumber', message }]);
  if (to === number.phone_number) fault('must be another number than the one that calls');
  const obstacle = whyNotFrom(number, providers);
  if (obstacle) throw refused(obstacle);
  const roomId = newUuid();
  const wish = {
    ...{
      workspaceId: tx.workspaceId,
      roomId,
      owner: { kind: TEST_CALL, id: roomId },
      attempt: 1,
      to,
      from: { number: number.phone_number },
    },
    ...{ agentId: null, variables: {}, recording: false, asksAgain: false, hours: {} },
    ...{ ringTimeoutSeconds: RING_SECONDS, maxCallSeconds: TALK_SECONDS },
  };
  const answer = await askForCall(tx, wish, { serverId: lease.serverId(), now, isSimulated, operator });
  if (answer.kind === 'queued') return { ...answer.call, request: { ...answer.call.request, voice: 'test_sentence' } };
  if (answer.kind === 'blocked') {
    const { reason } = answer;
    if (reason === 'limit_reached') throw new ServiceError('limit_reached', whyBlocked[reason]);
    throw refused(whyBlocked[reason], reason);
  }
  if (answer.outcome === 'invalid_number')
    fault('must be a number that a numbering plan has, and no emergency or short one');
  throw refused(`${to} is on the do-not-call list, which holds for test calls too.`, 'do_not_call');
}

const refused = (message: string, reason?: string) =>
  new ServiceError('call_refused', message, reason ? { details: [{ path: '/body/toNumber', message, reason }] } : {});
