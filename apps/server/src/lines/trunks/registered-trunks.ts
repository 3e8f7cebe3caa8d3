import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { RegisteredTrunks } from '../telephony/sip/registrar.ts';
import { readTrunk } from './check-trunk.ts';
import { changeTrunk, lockTrunk, recordTrunk } from './store.ts';
import type { TrunkRow } from './trunk.ts';
import { allGrants, ungranted } from './trunk-grants.ts';

/**
 * The trunks that are registered with, of all workspaces: a row each says which server does, and until when. Each of the
 * servers that register takes its share of them, and gives back what is more.
 */
export const registeredTrunks = ({
  database,
  secrets,
  clock,
  log,
}: {
  database: Database;
  secrets: Secrets;
  clock: Clock;
  log: Logger;
}): RegisteredTrunks => ({
  async take(serverId, seconds) {
    const mine = sql`r.server_id = ${serverId}`;
    // In one order, so that servers that take at once wait for each other and not in a circle.
    const { rows, grants } = await database.inEngine(async (tx) => {
      const { db } = tx;
      await sql`update servers set registers = true where id = ${serverId} and not registers`.execute(db);
      const taken = await sql<TrunkRow>`
        with share as (
          select ceil((select count(*) from trunks where register)::numeric / greatest(1, count(*))) as most
          from servers where registers and lease_until > clock_timestamp()),
        wanted as (
          select t.workspace_id, t.id from trunks t
          left join trunk_registrations r on r.workspace_id = t.workspace_id and r.trunk_id = t.id
          where t.register and (r.trunk_id is null or ${mine} or r.lease_until <= clock_timestamp())
          order by coalesce(${mine}, false) desc, t.workspace_id, t.id limit (select most from share)),
        taken as (
          insert into trunk_registrations as r (workspace_id, trunk_id, server_id, lease_until)
          select workspace_id, id, ${serverId}::uuid, clock_timestamp() + make_interval(secs => ${seconds})
          from wanted order by workspace_id, id
          on conflict (workspace_id, trunk_id) do update set server_id = excluded.server_id,
            lease_until = excluded.lease_until
          where r.server_id = excluded.server_id or r.lease_until <= clock_timestamp()
          returning workspace_id, trunk_id),
        given_back as (
          update trunk_registrations r set lease_until = '-infinity'
          where ${mine} and r.lease_until > '-infinity'
            and (r.workspace_id, r.trunk_id) not in (select workspace_id, id from wanted))
        select t.* from taken x join trunks t on t.workspace_id = x.workspace_id and t.id = x.trunk_id`.execute(db);
      return { ...taken, grants: await allGrants(tx) };
    });
    return rows.flatMap((row) => {
      const trunk = readTrunk({ secrets, log }, row);
      const called = { ...row, ip_allowlist: [] };
      const isGranted = !grants || ungranted(called, grants(row.workspace_id)).length === 0;
      return trunk ? [{ workspaceId: row.workspace_id, trunk, isGranted }] : [];
    });
  },

  async note(serverId, { workspaceId, trunkId }, { status, message = null }) {
    await database.inWorkspace(workspaceId, async (tx) => {
      const ofTrunk = sql`workspace_id = ${workspaceId} and trunk_id = ${trunkId} and server_id = ${serverId}`;
      const { rows } = await sql<{ isNew: boolean }>`
        select standing <> ${status} or message is distinct from ${message}::text as "isNew"
        from trunk_registrations where ${ofTrunk}`.execute(tx.db);
      const isNew = rows[0]?.isNew === true;
      // The trunk before its registration, as who deletes it locks them.
      const trunk = isNew ? await lockTrunk(tx, trunkId) : undefined;
      const noted = await sql`
        update trunk_registrations set standing = ${status}, message = ${message},
          registered_at = case when ${status} = 'registered' then clock_timestamp() else registered_at end
        where ${ofTrunk}`.execute(tx.db);
      if (!trunk || noted.numAffectedRows === 0n) return;
      const now = clock.now();
      await changeTrunk(tx, trunkId, { revision: trunk.revision + 1, updated_at: now });
      await recordTrunk(tx, trunkId, now);
    });
  },

  leave: (serverId) =>
    database.inEngine(async ({ db }) => {
      await sql`update servers set registers = false where id = ${serverId}`.execute(db);
      await sql`update trunk_registrations set lease_until = '-infinity' where server_id = ${serverId}`.execute(db);
    }),
});
