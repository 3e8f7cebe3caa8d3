import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Trunk } from '../telephony/trunk.ts';
import { type TrunkRow, trunkOf } from './trunk.ts';

/** Reads the trunks of calls, by their UUIDs; one whose password can't be read is left out. */
export type TrunksToCall = (
  calls: readonly { workspaceId: string; trunkId: string | null }[],
) => Promise<ReadonlyMap<string, Trunk>>;

export const trunksToCall =
  ({ database, secrets, log }: { database: Database; secrets: Secrets; log: Logger }): TrunksToCall =>
  async (all) => {
    const found = new Map<string, Trunk>();
    const calls = [...new Map(all.flatMap((call) => (call.trunkId ? [[call.trunkId, call] as const] : []))).values()];
    if (calls.length === 0) return found;
    const { rows } = await database.inEngine(({ db }) =>
      sql<TrunkRow>`select t.* from unnest(${calls.map((call) => call.workspaceId)}::uuid[],
        ${calls.map((call) => call.trunkId)}::uuid[]) as x (workspace_id, id)
      cross join lateral (select * from trunks where workspace_id = x.workspace_id and id = x.id limit 1) as t`.execute(
        db,
      ),
    );
    for (const row of rows) {
      try {
        found.set(row.id, trunkOf(row, secrets));
      } catch {
        log.error({ trunkId: row.id }, 'a SIP password can not be decrypted; was ENCRYPTION_KEY changed?');
      }
    }
    return found;
  };
