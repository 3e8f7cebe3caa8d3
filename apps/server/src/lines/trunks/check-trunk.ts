import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from '../../foundation/values/deadline.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import type { Trunk } from '../telephony/trunk.ts';
import type { TrunkProbe, TrunkProber } from '../telephony/trunk-prober.ts';
import type { TrunkDeps } from './deps.ts';
import { changeTrunk, lockTrunk, moveTrunk, recordTrunk } from './store.ts';
import { type CheckReason, endsByCheck, isReachedAlike, type TrunkRow, trunkOf } from './trunk.ts';
import { isUngranted } from './trunk-grants.ts';
import { trunkFaults } from './trunk-settings.ts';

/** How long a trunk may take to answer a check, in milliseconds, unless configured. */
export const TRUNK_CHECK_MS = 5_000;
/** A trunk that has not answered by then is checked again by a background task. */
export const CHECK_TAKEN_UP_MS = 30_000;
const CHECK_AGAIN_MS = 3_600_000;
const AT_ONCE = 10;

/** What a check found. `reason` is what is wrong. */
export interface TrunkVerdict extends Pick<TrunkProbe, 'valid' | 'reachable' | 'credentials'> {
  reason?: CheckReason;
  /** Milliseconds. */
  rttMs?: number;
}

/**
 * Probes trunks, and keeps what they answered. One that was changed meanwhile is left alone, and so is one that could not
 * be asked: both stay due.
 * @param atOnce how many are asked at a time
 * @returns what each answered, by the trunk's UUID; nothing of one that could not be asked
 */
export async function checkTrunks(
  deps: TrunkDeps,
  rows: TrunkRow[],
  atOnce = AT_ONCE,
): Promise<Map<string, TrunkVerdict>> {
  const verdicts = new Map<string, TrunkVerdict>();
  await someAtOnce(atOnce, rows, async (row) => {
    const verdict = await probe(deps, row);
    if (!verdict) return;
    verdicts.set(row.id, verdict);
    await keepVerdict(deps, row, verdict);
  });
  return verdicts;
}

/** What trunks answer, as `checkTrunks` tells it, with nothing kept. */
export async function askTrunks(deps: TrunkDeps, rows: TrunkRow[], atOnce: number): Promise<Map<string, TrunkVerdict>> {
  const asked = await someAtOnce(atOnce, rows, async (row) => [row.id, await probe(deps, row)] as const);
  return new Map(asked.flatMap(([id, verdict]) => (verdict ? [[id, verdict] as const] : [])));
}

/** Checks trunks for a request, which waits for it no longer than a check may take. */
export async function checkWithin(deps: TrunkDeps, rows: TrunkRow[]): Promise<Map<string, TrunkVerdict> | undefined> {
  const check = checkTrunks(deps, rows).catch((error) => {
    deps.log.error({ err: error }, 'trunks were not checked; they stay due');
    return undefined;
  });
  const late = new AbortController();
  const first = await Promise.race([
    check,
    sleep(deps.trunkCheckMs ?? TRUNK_CHECK_MS, undefined, { signal: late.signal }),
  ]);
  late.abort();
  return first;
}

const failed = (reason: CheckReason, row: TrunkRow): TrunkVerdict => ({
  valid: false,
  reachable: false,
  credentials: row.username === null ? 'not_given' : 'unverified',
  reason,
});

const probe = (deps: TrunkDeps, row: TrunkRow) => askTrunk(deps, deps.prober, row);

/** What a trunk answers, with nothing written; nothing where it could not be asked. */
export async function askTrunk(
  deps: Pick<TrunkDeps, 'database' | 'trunkGuard' | 'secrets' | 'log' | 'trunkCheckMs' | 'callsOut'>,
  prober: TrunkProber | undefined,
  row: TrunkRow,
): Promise<TrunkVerdict | undefined> {
  if (trunkFaults(row, deps.trunkGuard).length > 0) return failed('not_allowed', row);
  if (deps.callsOut && (await deps.database.inWorkspace(row.workspace_id, (tx) => isUngranted(tx, row))))
    return failed('not_granted', row);
  const trunk = readTrunk(deps, row);
  if (!trunk) return failed('unreadable', row);
  if (!prober) return failed('no_prober', row);
  const credentials = row.username === null ? ('not_given' as const) : ('unverified' as const);
  if (row.probe === 'none') return { valid: true, reachable: true, credentials };
  try {
    const ms = deps.trunkCheckMs ?? TRUNK_CHECK_MS;
    const { reason, ...found } = await withDeadline(ms, (signal) => prober.probeTrunk(trunk, signal));
    if (found.valid) return found;
    return { ...found, reason: reason === 'ok' || reason === 'simulated' ? 'unreachable' : reason };
  } catch (error) {
    deps.log.warn({ err: error, trunkId: row.id }, 'a trunk could not be checked');
    return undefined;
  }
}

/** A trunk as adapters take it; undefined where its password can't be decrypted, which the log says. */
export function readTrunk(deps: Pick<TrunkDeps, 'secrets' | 'log'>, row: TrunkRow): Trunk | undefined {
  try {
    return trunkOf(row, deps.secrets);
  } catch {
    deps.log.error({ trunkId: row.id }, 'a SIP password can not be decrypted; was ENCRYPTION_KEY changed?');
    return undefined;
  }
}

async function keepVerdict(deps: TrunkDeps, probed: TrunkRow, { valid, reason }: TrunkVerdict): Promise<void> {
  await deps.database.inWorkspace(probed.workspace_id, async (tx) => {
    const now = deps.clock.now();
    const row = await lockTrunk(tx, probed.id);
    if (!row || !isReachedAlike(row, probed)) return;
    // What was to be checked meanwhile, as after a revoke, still is.
    const isAsked = row.due_at?.getTime() !== probed.due_at?.getTime();
    const checked = { checked_at: now, due_at: isAsked ? row.due_at : new Date(now.getTime() + CHECK_AGAIN_MS) };
    const revised = { ...checked, message: null, status_since: now, revision: row.revision + 1, updated_at: now };
    const judges = row.status === 'active' || endsByCheck(row.reason);
    if (judges && valid && row.status === 'paused') {
      await moveTrunk(tx, row, 'active', { ...revised, reason: null });
    } else if (judges && reason && row.status === 'active') {
      await moveTrunk(tx, row, 'paused', { ...revised, reason, paused_by_number_id: null, paused_by_pool_id: null });
    } else if (judges && reason && row.reason !== reason) {
      await changeTrunk(tx, row.id, { ...revised, reason });
    } else {
      await changeTrunk(tx, row.id, checked);
      return;
    }
    await recordTrunk(tx, row.id, now);
    if (valid === (row.status === 'paused')) await deps.onTurned(tx, row.id, now);
  });
}
