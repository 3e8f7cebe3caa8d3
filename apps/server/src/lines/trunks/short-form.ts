import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { GIVE_AGAIN } from '../../foundation/outbound-http/same-origin.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { refuse, ServiceError } from '../../foundation/values/service-error.ts';
import { CHECK_TAKEN_UP_MS } from './check-trunk.ts';
import type { TrunkDeps } from './deps.ts';
import {
  hasTooManyTrunks,
  insertTrunk,
  lockTrunk,
  lockTrunkNamed,
  recordTrunk,
  TOO_MANY_TRUNKS,
  type TrunkColumns,
} from './store.ts';
import { passwordPlace, type TrunkRow } from './trunk.ts';
import { textFaults } from './trunk-faults.ts';
import { judgeNamed, namesOthers, shareNumbers } from './trunk-grants.ts';
import { trunkColumns, trunkFaults } from './trunk-settings.ts';
import { placeOf, writeTrunk } from './update-trunk.ts';

type ShortForm = components['schemas']['UpdateSipConfig'] & { terminationUrl: string };
/** What of it a trunk that is there takes over. */
type Brought = { [K in keyof ShortForm]?: ShortForm[K] | undefined };
type Deps = Pick<TrunkDeps, 'secrets' | 'trunkGuard' | 'callsOut' | 'onTurned'>;

/** A trunk that a number names in short, where the number is on none, or on this one. */
interface Named {
  config: ShortForm;
  /** UUID of the trunk that the number is on. */
  currentId?: string | null;
  /** Whether other numbers call over it too. */
  isShared?: boolean;
}

/**
 * The trunk that a short form names: the workspace's of that address, transport and username, with the password and the
 * list that the form brings; else the number's own, changed; else one that is made like it. Throws `invalid_request` for one
 * that can't be.
 */
export async function trunkNamed(
  deps: Deps,
  tx: WorkspaceTx,
  { config, currentId, isShared }: Named,
  now: Date,
): Promise<TrunkRow> {
  const current = currentId ? await lockTrunk(tx, currentId) : undefined;
  const id = newUuid();
  const place = { workspace_id: tx.workspaceId, id };
  const base = current ? likeIt(deps, current, place) : {};
  const wanted = { ...base, ...(trunkColumns(config, place, deps.secrets) as object) } as TrunkColumns;
  judge(deps, wanted, config);
  const identity = {
    terminationUrl: config.terminationUrl,
    transport: wanted.transport ?? 'auto',
    username: wanted.username ?? null,
  };
  const there = await lockTrunkNamed(tx, identity);
  if (there && there.id !== current?.id)
    return bring(deps, tx, there, { password: config.password, ipAllowlist: config.ipAllowlist }, now);
  // As where the trunk itself is changed: a password goes nowhere but where it was given for.
  const isMoved = current && placeOf(config.terminationUrl) !== placeOf(current.termination_url);
  if (isMoved && current.password !== null && config.password === undefined)
    refuse([{ path: '/body/sipConfig/password', message: GIVE_AGAIN }]);
  if (current && (there || !isShared)) return bring(deps, tx, current, config, now);
  const times = {
    status_since: now,
    due_at: new Date(now.getTime() + CHECK_TAKEN_UP_MS),
    created_at: now,
    updated_at: now,
  };
  const { terminationUrl: termination_url, transport } = identity;
  const made = await insertTrunk(tx, {
    ...wanted,
    ...times,
    id,
    termination_url,
    transport: transport as TrunkRow['transport'],
  });
  if (made) {
    await judgeNamed(tx, made, { path: '/body/sipConfig', asks: deps.callsOut, now });
    if (await hasTooManyTrunks(tx)) refuse([{ path: '/body/sipConfig', message: TOO_MANY_TRUNKS }]);
    await recordTrunk(tx, id, now);
    return made;
  }
  const faster = await lockTrunkNamed(tx, identity);
  if (!faster) throw new ServiceError('unavailable', 'The trunk was changed meanwhile. Try again.');
  return bring(deps, tx, faster, { password: config.password, ipAllowlist: config.ipAllowlist }, now);
}

/** The faults of a short form, each where it stands in a request. */
function judge(deps: Deps, wanted: TrunkColumns, { terminationUrl, password }: ShortForm): void {
  const row = { ...wanted, termination_url: terminationUrl };
  refuse([
    ...trunkFaults(row, deps.trunkGuard, '/body/sipConfig'),
    ...textFaults(password, '/body/sipConfig/password'),
  ]);
}

/** Changes a trunk by what a short form brings that it has not. */
async function bring(
  deps: Deps,
  tx: WorkspaceTx,
  row: TrunkRow,
  { password, ...config }: Brought,
  now: Date,
): Promise<TrunkRow> {
  const news = Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
  const sent = { ...news, ...(password !== undefined && !hasPassword(deps, row, password) && { password }) };
  const changes = trunkColumns(sent, row, deps.secrets);
  const changed = Object.entries(changes).filter(([column, value]) => !isSame(row[column as keyof TrunkRow], value));
  if (changed.length === 0) return row;
  const after = await writeTrunk(tx, row, Object.fromEntries(changed), now);
  if (namesOthers(Object.fromEntries(changed))) {
    await judgeNamed(tx, after, { path: '/body/sipConfig', asks: deps.callsOut, now });
    await shareNumbers(tx, after, deps.callsOut);
  }
  await recordTrunk(tx, row.id, now);
  if (after.status !== row.status) await deps.onTurned(tx, row.id, now);
  return after;
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function hasPassword({ secrets }: Deps, row: TrunkRow, password: string | null): boolean {
  if (password === null || row.password === null) return password === row.password;
  try {
    return secrets.decrypt(row.password, passwordPlace(row)) === password;
  } catch {
    return false;
  }
}

/** What another trunk has of one, its password among it. */
function likeIt({ secrets }: Deps, row: TrunkRow, place: Pick<TrunkRow, 'workspace_id' | 'id'>): TrunkColumns {
  const { workspace_id: _w, id: _i, status: _s, reason: _r, message: _m, status_since: _ss, ...rest } = row;
  const {
    paused_by_number_id: _n,
    paused_by_pool_id: _p,
    checked_at: _c,
    next_start_at: _ns,
    revision: _re,
    edition: _e,
    ...columns
  } = rest;
  const password =
    row.password && secrets.encrypt(secrets.decrypt(row.password, passwordPlace(row)), passwordPlace(place));
  return { ...columns, headers: JSON.stringify(row.headers), password, password_of: null };
}
