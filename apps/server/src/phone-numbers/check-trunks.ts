import type { TrunkProbe } from '../telephony/gateway.ts';
import { withDeadline } from './deadline.ts';
import type { PhoneNumberDeps } from './deps.ts';
import { type PhoneNumberRow, sameTrunk, trunkOf } from './phone-number.ts';
import { trunkProber } from './providers.ts';
import { recordNumber } from './record-number.ts';
import { someAtOnce } from './some-at-once.ts';
import { changeNumber, lockNumbers } from './store.ts';

/** How long a trunk may take to answer a check, in milliseconds, unless configured. */
export const TRUNK_CHECK_MS = 5_000;
const CHECK_AGAIN_MS = 3_600_000;
const AT_ONCE = 10;

/** What a check says of a trunk. `detail` is one of the probe's reasons, or why there was no probe. */
export interface TrunkVerdict {
  valid: boolean;
  detail: TrunkProbe['reason'] | 'no_prober' | 'no_trunk' | 'password_unreadable';
  /** Milliseconds. */
  rttMs?: number;
}

/**
 * Probes the trunks of imported numbers, each trunk once, and keeps what they answered. A number whose trunk was changed
 * meanwhile is left alone, and so is one whose trunk could not be asked: both stay due.
 * @param atOnce how many trunks are asked at a time
 * @returns what each number's trunk answered, by the number's UUID; nothing of one that could not be asked
 */
export async function checkTrunks(
  deps: PhoneNumberDeps,
  rows: PhoneNumberRow[],
  atOnce = AT_ONCE,
): Promise<Map<string, TrunkVerdict>> {
  const groups = byTrunk(deps, rows);
  const verdicts = new Map<string, TrunkVerdict>();
  await someAtOnce(atOnce, groups, async (group) => {
    const verdict = await checkTrunk(deps, group);
    if (verdict) for (const row of group) verdicts.set(row.id, verdict);
  });
  return verdicts;
}

function byTrunk(deps: PhoneNumberDeps, rows: PhoneNumberRow[]): PhoneNumberRow[][] {
  const groups = new Map<string, PhoneNumberRow[]>();
  for (const row of rows) {
    const key = trunkKey(deps, row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

/** Equal for numbers of one workspace that reach their trunk the same way. A row that can't be read stands alone. */
function trunkKey(deps: PhoneNumberDeps, row: PhoneNumberRow): string {
  try {
    return JSON.stringify([row.workspace_id, trunkOf(row, deps.secrets)]);
  } catch {
    return row.id;
  }
}

async function checkTrunk(deps: PhoneNumberDeps, rows: PhoneNumberRow[]): Promise<TrunkVerdict | undefined> {
  const verdict = await probe(deps, rows[0]!);
  if (verdict) await keepVerdict(deps, rows, verdict);
  return verdict;
}

async function probe(deps: PhoneNumberDeps, row: PhoneNumberRow): Promise<TrunkVerdict | undefined> {
  const { log } = deps;
  try {
    const trunk = readTrunk(deps, row);
    const prober = trunkProber(deps.gateways);
    if (!trunk || !prober) return { valid: false, detail: trunk ? 'no_prober' : 'no_trunk' };
    if (trunk === 'unreadable') return { valid: false, detail: 'password_unreadable' };
    const ms = deps.trunkCheckMs ?? TRUNK_CHECK_MS;
    const { valid, reason, rttMs } = await withDeadline(ms, (signal) => prober.probeTrunk(trunk, signal));
    return { valid, detail: reason, ...(rttMs !== undefined && { rttMs }) };
  } catch (error) {
    log.warn({ err: error, phoneNumberId: row.id }, 'a trunk could not be checked');
    return undefined;
  }
}

function readTrunk(deps: PhoneNumberDeps, row: PhoneNumberRow) {
  try {
    return trunkOf(row, deps.secrets);
  } catch {
    deps.log.error({ phoneNumberId: row.id }, 'a SIP password can not be decrypted; was ENCRYPTION_KEY changed?');
    return 'unreadable';
  }
}

async function keepVerdict(deps: PhoneNumberDeps, probed: PhoneNumberRow[], verdict: TrunkVerdict): Promise<void> {
  const asProbed = new Map(probed.map((row) => [row.id, row]));
  await deps.database.inWorkspace(probed[0]!.workspace_id, async (tx) => {
    const now = deps.clock.now();
    const { valid: trunk_valid, detail: trunk_detail } = verdict;
    const due_at = new Date(now.getTime() + CHECK_AGAIN_MS);
    for (const row of await lockNumbers(tx, [...asProbed.keys()])) {
      if (row.status === 'released' || !sameTrunk(row, asProbed.get(row.id)!)) continue;
      const checked = { trunk_valid, trunk_detail, trunk_checked_at: now, due_at };
      const turned = row.trunk_valid !== trunk_valid && (row.trunk_valid || trunk_valid);
      const revised = { ...checked, revision: row.revision + 1, updated_at: now };
      const kept = await changeNumber(tx, row.id, turned ? revised : checked);
      if (turned) await recordNumber(tx, kept, now);
    }
  });
}
