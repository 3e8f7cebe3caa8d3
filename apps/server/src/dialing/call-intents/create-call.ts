import { countryFaults } from '../../audience/contact-lists/check-country.ts';
import { readTimeZone, timeZoneFault } from '../../audience/contact-lists/reading/time-zone.ts';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { findIdempotencyKey, takeIdempotencyKey } from '../../foundation/database/idempotency-keys.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { type ErrorDetail, existing } from '../../foundation/values/service-error.ts';
import type { Provider } from '../../lines/phone-numbers/phone-number.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import type { AgentDirectory } from '../../voices/agents/directory.ts';
import type { IsSimulated } from '../calls/may-dial.ts';
import { type Call, shapeCall } from '../calls/shape-call.ts';
import type { CallStore } from '../calls/store.ts';
import { agentName, refuseFaults } from '../campaigns/campaign-settings.ts';
import { acceptCall } from './accept-call.ts';
import { readCallee } from './judge-call.ts';

const DAY_MS = 24 * 3600 * 1000;
/** What a call without `expiresAt` is given, from its time on. */
const EXPIRES_MS = DAY_MS;
const LATEST_DAYS = 366;
const LONGEST_DAYS = 30;

export interface CreateCallDeps {
  database: Database;
  agents: AgentDirectory;
  clock: Clock;
  /** Those that are configured on this server. */
  providers: readonly Provider[];
  operator: OperatorLimits;
  isSimulated: IsSimulated;
  calls: Pick<CallStore, 'find'>;
  /** Has due intents looked at at once. */
  nudge: () => void;
}

export interface CallOrder {
  workspaceId: string;
  input: components['schemas']['CreateCall'];
  idempotencyKey: string | undefined;
  /** The audit entry of the key, given the call's ID. */
  auditEntryOf: (roomId: string) => AuditEntry;
}

/** An answer to a request, and whether an earlier one with its idempotency key was the first. */
interface Answered {
  call: Call;
  replayed: boolean;
}

/**
 * Takes a call on: it is placed once, now or when it is scheduled. Throws `invalid_request`, `not_found` for a number or
 * pool that the workspace doesn't have, `campaign_not_startable`, `call_refused`, `limit_reached` and
 * `idempotency_key_reused`; nobody is called then.
 */
export async function createCall(deps: CreateCallDeps, order: CallOrder): Promise<Answered> {
  const { database, agents, clock, nudge } = deps;
  const { workspaceId, input, idempotencyKey: key } = order;
  const now = clock.now();
  const id = newUuid();
  const named = key && { operation: 'createCall', key, request: input, resourceId: id, now };
  if (named) {
    // Before all that may have changed since: what was accepted once is not refused when it is asked for again.
    const earlier = await database.inWorkspace(workspaceId, async (tx) => {
      const roomId = await findIdempotencyKey(tx, named);
      return roomId && replay(deps, tx, roomId);
    });
    if (earlier) return earlier;
  }
  const times = timesOf(input, now);
  refuseFaults([
    ...times.faults,
    ...zoneFaults(input.timezone),
    ...countryFaults(input.defaultCountry, '/body/defaultCountry'),
  ]);
  const toNumber = readCallee(input.toNumber, input.defaultCountry);
  await agentName(agents, input.agentId, workspaceId);
  const answered = await database.inWorkspace(workspaceId, async (tx): Promise<Answered> => {
    const roomId = named ? await takeIdempotencyKey(tx, named) : id;
    if (roomId !== id) return replay(deps, tx, roomId);
    await acceptCall(tx, { id, toNumber, ...times }, input, { ...deps, now });
    await audit(tx, order.auditEntryOf(toId('room', id)), now);
    return { call: await read(deps, tx, id), replayed: false };
  });
  if (!answered.replayed) nudge();
  return answered;
}

const read = async ({ calls }: CreateCallDeps, tx: WorkspaceTx, roomId: string): Promise<Call> =>
  shapeCall(await existing(calls.find(tx, roomId)));

const replay = async (deps: CreateCallDeps, tx: WorkspaceTx, roomId: string): Promise<Answered> => ({
  call: await read(deps, tx, roomId),
  replayed: true,
});

function timesOf({ scheduledAt, expiresAt: expires }: CallOrder['input'], now: Date) {
  const startAt = new Date(Math.max(now.getTime(), scheduledAt === undefined ? 0 : Date.parse(scheduledAt)));
  const expiresAt = expires === undefined ? new Date(startAt.getTime() + EXPIRES_MS) : new Date(expires);
  const faults: ErrorDetail[] = [];
  if (startAt.getTime() - now.getTime() > LATEST_DAYS * DAY_MS) {
    faults.push({ path: '/body/scheduledAt', message: `scheduledAt must be at most ${LATEST_DAYS} days ahead.` });
  }
  const open = expiresAt.getTime() - startAt.getTime();
  if (open <= 0 || open > LONGEST_DAYS * DAY_MS) {
    const message = `expiresAt must be later than scheduledAt, and than now, by at most ${LONGEST_DAYS} days.`;
    faults.push({ path: '/body/expiresAt', message });
  }
  return { startAt, expiresAt, faults };
}

const zoneFaults = (timezone: string | undefined): ErrorDetail[] =>
  timezone === undefined || readTimeZone(timezone) !== undefined
    ? []
    : [{ path: '/body/timezone', message: timeZoneFault(timezone) }];
