import { randomBytes } from 'node:crypto';
import { type SqlBool, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import type { AccountMarket } from '../telephony/number-market.ts';
import { CHECK_TAKEN_UP_MS, checkWithin } from '../trunks/check-trunk.ts';
import { changeTrunk, hasTooManyTrunks, insertTrunk, recordTrunk, TOO_MANY_TRUNKS } from '../trunks/store.ts';
import { passwordPlace, type TrunkRow } from '../trunks/trunk.ts';
import { judgeNamed } from '../trunks/trunk-grants.ts';
import type { PhoneNumberDeps } from './deps.ts';
import type { PhoneNumberRow } from './phone-number.ts';

/** For how long one server alone makes a trunk at its provider, in milliseconds; if it dies, another one goes on then. */
const MAKING_MS = 60_000;
/** How often what is missing of it there is made again, in milliseconds. */
const MEND_MS = 86_400_000;
const USERNAME = 'trunkline';

/** A workspace's trunk at a provider, by our UUID and by the provider's own name. */
interface ManagedTrunk {
  id: string;
  managedId: string;
}

/**
 * The trunk of a number's workspace in its account with the provider, which leads here. It is written down with its password
 * before the provider hears of it, and made there by its name, by one server at a time. What somebody has removed of it there is made
 * again once a day. Nothing while another server is at it.
 */
export async function managedTrunk(
  deps: PhoneNumberDeps,
  { workspace_id: workspaceId, provider }: PhoneNumberRow,
  market: AccountMarket,
  originUri: string,
): Promise<ManagedTrunk | undefined> {
  const name = `trunkline-${workspaceId.replaceAll('-', '')}`;
  const manager = provider as NonNullable<TrunkRow['managed_by']>;
  const trunk = await deps.database.inWorkspace(workspaceId, async (tx) => {
    return (await findManaged(tx, manager)) ?? (await insertManaged(deps, tx, manager, market.trunkAddress(name)));
  });
  const { id, managed_id: known, origin_uris: origins, made_at: madeAt } = trunk;
  const isWhole = madeAt !== null && deps.clock.now().getTime() < madeAt.getTime() + MEND_MS;
  if (known !== null && isWhole && origins.includes(originUri)) return { id, managedId: known };
  if (!(await beginMaking(deps, trunk))) return undefined;
  const password = deps.secrets.decrypt(trunk.password!, passwordPlace(trunk));
  const managedId = await market.ensureTrunk({ name, originUris: [originUri], username: USERNAME, password });
  const made = await deps.database.inWorkspace(workspaceId, async (tx) => {
    await sql`update trunks set origin_uris = array_append(array_remove(origin_uris, ${originUri}), ${originUri})
      where workspace_id = ${workspaceId} and id = ${id}`.execute(tx.db);
    return changeTrunk(tx, id, { managed_id: managedId, making_until: null, made_at: deps.clock.now() });
  });
  if (made.checked_at === null) await checkWithin(deps, [made]);
  return { id, managedId };
}

/** Whether a number calls over the trunk that was made for it. */
export async function isOnManaged({ db, workspaceId }: WorkspaceTx, { trunk_id, provider }: PhoneNumberRow) {
  if (trunk_id === null) return false;
  const trunk = await db
    .selectFrom('trunks')
    .select('managed_by')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', trunk_id)
    .executeTakeFirst();
  return trunk?.managed_by === provider;
}

const findManaged = ({ db, workspaceId }: WorkspaceTx, manager: NonNullable<TrunkRow['managed_by']>) =>
  db
    .selectFrom('trunks')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('managed_by', '=', manager)
    .executeTakeFirst();

async function insertManaged(
  { clock, secrets }: PhoneNumberDeps,
  tx: WorkspaceTx,
  manager: NonNullable<TrunkRow['managed_by']>,
  { terminationUrl, ipAllowlist }: ReturnType<AccountMarket['trunkAddress']>,
): Promise<TrunkRow> {
  // Of two who make the first one, the second sees it.
  await sql`select from workspaces where id = ${tx.workspaceId} for no key update`.execute(tx.db);
  const earlier = await findManaged(tx, manager);
  if (earlier) return earlier;
  const [id, now] = [newUuid(), clock.now()];
  // Twilio asks for capitals, small letters and digits.
  const password = `Tk1${randomBytes(24).toString('base64url')}`;
  const row = await insertTrunk(tx, {
    ...{ id, termination_url: terminationUrl, transport: 'auto', username: USERNAME, ip_allowlist: ipAllowlist },
    password: secrets.encrypt(password, passwordPlace({ workspace_id: tx.workspaceId, id })),
    // Whether it answers OPTIONS is nowhere promised; its calls tell.
    probe: 'none',
    managed_by: manager,
    ...{ status_since: now, due_at: new Date(now.getTime() + CHECK_TAKEN_UP_MS), created_at: now, updated_at: now },
  });
  if (!row) throw new Error('The workspace has a trunk with the address of the one that is to be made.');
  // What several workspaces may call is the operator's word: its check says so.
  await judgeNamed(tx, row, { path: '/body', asks: false, now });
  if (await hasTooManyTrunks(tx)) throw new Error(TOO_MANY_TRUNKS);
  await recordTrunk(tx, id, now);
  return row;
}

async function beginMaking({ database, clock }: PhoneNumberDeps, { workspace_id, id }: TrunkRow): Promise<boolean> {
  const now = clock.now();
  const begun = await database.inWorkspace(workspace_id, ({ db }) =>
    db
      .updateTable('trunks')
      .set({ making_until: new Date(now.getTime() + MAKING_MS) })
      .where('workspace_id', '=', workspace_id)
      .where('id', '=', id)
      .where(sql<SqlBool>`(making_until is null or making_until <= ${now})`)
      .returning('id')
      .executeTakeFirst(),
  );
  return begun !== undefined;
}
