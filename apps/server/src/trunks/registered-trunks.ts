import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Secrets } from '../database/secrets.ts';
import type { RegisteredTrunks } from '../telephony/sip/registrar.ts';
import { type TrunkRow, trunkOf } from './trunk.ts';

/** The trunks that are registered with, of all workspaces: a row each says which server does, and until when. */
export const registeredTrunks = ({
  database,
  secrets,
  log,
}: {
  database: Database;
  secrets: Secrets;
  log: Logger;
}): RegisteredTrunks => ({
  async take(serverId, seconds) {
    // In one order, so that servers that take at once wait for each other and not in a circle.
    const { rows } = await database.inEngine(({ db }) =>
      sql<TrunkRow>`
        with taken as (
          insert into trunk_registrations as r (workspace_id, trunk_id, server_id, lease_until)
          select workspace_id, id, ${serverId}::uuid, clock_timestamp() + make_interval(secs => ${seconds})
          from trunks where register order by workspace_id, id
          on conflict (workspace_id, trunk_id) do update set server_id = excluded.server_id,
            lease_until = excluded.lease_until
          where r.server_id = excluded.server_id or r.lease_until <= clock_timestamp()
          returning workspace_id, trunk_id)
        select t.* from taken x join trunks t on t.workspace_id = x.workspace_id and t.id = x.trunk_id`.execute(db),
    );
    return rows.flatMap((row) => {
      try {
        return [{ workspaceId: row.workspace_id, trunk: trunkOf(row, secrets) }];
      } catch {
        log.error({ trunkId: row.id }, 'a SIP password can not be decrypted; was ENCRYPTION_KEY changed?');
        return [];
      }
    });
  },

  note: (serverId, { workspaceId, trunkId }, { status, message }) =>
    database.inEngine(async ({ db }) => {
      await sql`
        update trunk_registrations set standing = ${status}, message = ${message ?? null},
          registered_at = case when ${status} = 'registered' then clock_timestamp() else registered_at end
        where workspace_id = ${workspaceId} and trunk_id = ${trunkId} and server_id = ${serverId}`.execute(db);
    }),

  giveBack: (serverId, keys) =>
    database.inEngine(async ({ db }) => {
      await sql`
        update trunk_registrations r set lease_until = '-infinity'
        from unnest(${keys.map((key) => key.workspaceId)}::uuid[], ${keys.map((key) => key.trunkId)}::uuid[])
          as x (workspace_id, trunk_id)
        where r.workspace_id = x.workspace_id and r.trunk_id = x.trunk_id and r.server_id = ${serverId}`.execute(db);
    }),
});
