import { sql } from 'kysely';
import { type Database, type EngineTx, forWorkspace } from '../foundation/database/database.ts';
import type { Row } from '../foundation/database/schema.ts';
import { newUuid } from '../foundation/values/ids.ts';
import { leavePool } from '../lines/number-pools/leave-pool.ts';
import { isImported, needsTrunk } from '../lines/phone-numbers/phone-number.ts';
import { recordNumber } from '../lines/phone-numbers/record-number.ts';
import { changeNumber, moveNumber as moveStatus, readNumber } from '../lines/phone-numbers/store.ts';
import { CommandRefused, workspaceNamed } from './workspace-named.ts';

type Number = Row<'phone_numbers'>;

/**
 * The operator's word on whose a number is, if callers of several workspaces may come from the same carriers: it is released
 * where it is, and becomes the other workspace's, which gives it a trunk and agents then. A bought one stays bought from its
 * provider. Who has it at a carrier of its own keeps it there: it is in nobody's way. Throws `CommandRefused`.
 * @param phoneNumber E.164
 * @param workspace its name or ID
 */
export async function moveNumber(database: Database, phoneNumber: string, workspace: string, now: Date): Promise<void> {
  await database.inEngine(async (tx) => {
    const target = await workspaceNamed(tx, workspace);
    // What is imported or bought there meanwhile holds the workspace's row.
    await sql`select from workspaces where id = ${target} for no key update`.execute(tx.db);
    const { rows } = await sql<Number>`
      select * from phone_numbers where phone_number = ${phoneNumber} and status in ('active', 'provisioning')
      order by shared desc, id for update`.execute(tx.db);
    const [held] = rows;
    if (!held) throw new CommandRefused(`No workspace has the number ${phoneNumber}. Import or buy it there.`);
    if (held.workspace_id === target) throw new CommandRefused(`${workspace} has the number ${phoneNumber} already.`);
    if (!held.shared) {
      const { rows: holders } = await sql<{ name: string }>`
        select name from workspaces where id = any(${rows.map((row) => row.workspace_id)}::uuid[]) order by name`.execute(
        tx.db,
      );
      throw new CommandRefused(
        `${phoneNumber} stays where it is, at a carrier that is one workspace's alone (${holders.map(({ name }) => name).join(', ')}), and is in nobody's way. ` +
          `Import it in ${workspace}, at another carrier; if both call over that one, grant it to both with --by-name first.`,
      );
    }
    await refuseOfAccount(tx, held, target);
    await refuseInUse(tx, held);
    await giveUp(tx, held, now);
    await take(tx, held, target, now);
  });
}

/** What was bought with an account of its workspace's can be released with that account alone. */
async function refuseOfAccount(tx: EngineTx, { workspace_id, phone_number, provider }: Number, target: string) {
  const { rows } = await sql`
    select from provider_accounts mine where mine.workspace_id = ${workspace_id} and mine.provider = ${provider}
      and not exists (select from provider_accounts theirs where theirs.workspace_id = ${target}
        and theirs.provider = ${provider} and theirs.account_id = mine.account_id)`.execute(tx.db);
  if (rows.length === 0) return;
  throw new CommandRefused(
    `${phone_number} was bought with an account that its workspace has with ${provider}, and the other one has not. Save it there first.`,
  );
}

async function refuseInUse(tx: EngineTx, { workspace_id, id, phone_number, status }: Number): Promise<void> {
  if (status === 'provisioning')
    throw new CommandRefused(`${phone_number} is just being bought. Try again in a minute.`);
  const { rows } = await sql<{ name: string }>`
    select name from workspaces where id = ${workspace_id} and (
      exists (select from campaigns where workspace_id = ${workspace_id} and phone_number_id = ${id}
        and status in ('scheduled', 'running', 'paused'))
      or exists (select from calls where workspace_id = ${workspace_id} and phone_number_id = ${id} and ended_at is null)
      or exists (select from call_intents where workspace_id = ${workspace_id} and phone_number_id = ${id}
        and next_attempt_at is not null))`.execute(tx.db);
  if (!rows[0]) return;
  throw new CommandRefused(
    `A campaign, or a call that is up or waits, uses ${phone_number} in ${rows[0].name}. Have it stopped first.`,
  );
}

/** Its owner is told that it is gone, and not where it went. */
async function giveUp(tx: EngineTx, { workspace_id, id, revision }: Number, now: Date): Promise<void> {
  const there = forWorkspace(tx, workspace_id);
  const changes = { trunk_id: null, due_at: null, revision: revision + 1, updated_at: now };
  const released = await moveStatus(there, { id }, 'released', changes);
  await leavePool(there, id);
  await recordNumber(there, released, now);
}

/**
 * What it has at a carrier of its own stays, and from now on keeps the number from others where carriers are shared. Where it
 * was suspended, since another workspace had it, it goes on as it was; else it is new.
 */
async function take(tx: EngineTx, held: Number, target: string, now: Date): Promise<void> {
  const here = forWorkspace(tx, target);
  const { rows } = await sql<Number>`
    select * from phone_numbers where workspace_id = ${target} and phone_number = ${held.phone_number}
      and status <> 'released' for update`.execute(tx.db);
  const [own] = rows;
  const times = { created_at: now, updated_at: now };
  if (own?.status === 'suspended' && isImported(held)) {
    const taken = await moveStatus(here, own, 'active', { revision: own.revision + 1, updated_at: now });
    return recordNumber(here, taken, now);
  }
  if (own?.status === 'active' && isImported(held)) {
    await changeNumber(here, own.id, { shared: true });
    return;
  }
  if (own) {
    await refuseInUse(tx, own);
    await giveUp(tx, own, now);
  }
  // Providers know what was bought by the row's UUID.
  const id = isImported(held) ? newUuid() : held.id;
  const { phone_number, country, provider, provider_number_id, provider_monthly_cost, provider_currency } = held;
  await tx.db
    .insertInto('phone_numbers')
    .values({
      ...{ workspace_id: target, id, phone_number, country, provider, status: 'active', ...times },
      ...{ provider_number_id, provider_monthly_cost, provider_currency },
      ...(!isImported(held) && needsTrunk(held) && { due_at: now, connects: true }),
    })
    .execute();
  await recordNumber(here, (await readNumber(here, id))!, now);
}
