import { sql } from 'kysely';
import { tryMove } from './campaigns/move-campaign.ts';
import { recordCampaignStatus } from './campaigns/record-campaign.ts';
import { type Database, type EngineTx, forWorkspace } from './database/database.ts';
import type { Row } from './database/schema.ts';
import {
  type Cluster,
  holdDialing,
  lockInstallation,
  readCluster,
  releaseDialing,
} from './installation/installation.ts';
import { restoredBecause } from './installation/judge-restore.ts';
import type { Testimony, Witness } from './installation/witness.ts';

/** What a confirmed restore has stopped; undefined where nothing looks restored. */
export type Confirmed = { reason: string; paused: number; cancelled: number } | undefined;

/**
 * The operator's word that the database was restored on purpose. Dialing stays paused in every workspace until its owner
 * resumes it. What would then go on by itself is stopped: running campaigns are paused; batches, which can't be, are
 * cancelled, and so is what was scheduled for a time that has passed, since it may have run after the backup.
 */
export async function confirmRestore(database: Database, witness: Witness | undefined, now: Date): Promise<Confirmed> {
  const testimony = await witness?.read();
  const cluster = await readCluster(database);
  const done = await database.inEngine((tx) => release(tx, witness ? testimony : null, cluster, now));
  if (done) await witness?.write(done.testimony);
  return done?.confirmed;
}

async function release(tx: EngineTx, witness: Testimony | undefined | null, cluster: Cluster, now: Date) {
  const found = await lockInstallation(tx);
  const evidence = { witness, system_identifier: cluster.system_identifier, seen: 0 };
  const reason = found.held_reason ?? restoredBecause(found, evidence);
  if (reason === undefined) return undefined;
  // Where no server has looked yet.
  await holdDialing(tx, reason, now);
  const { rows } = await sql<Pick<Row<'campaigns'>, 'workspace_id' | 'id' | 'kind' | 'status'>>`
    select workspace_id, id, kind, status from campaigns
    where status = 'running'
      or (status = 'scheduled' and coalesce(greatest(start_date, scheduled_at), 'epoch') <= ${now})
    order by workspace_id, id for no key update`.execute(tx.db);
  const confirmed = { reason, paused: 0, cancelled: 0 };
  for (const { workspace_id, id, kind, status } of rows) {
    const name = status === 'scheduled' ? 'cancel' : kind === 'batch' ? 'stop' : 'pause';
    const inWorkspace = forWorkspace(tx, workspace_id);
    await tryMove(inWorkspace, id, { kind, name, now });
    if (kind === 'campaign') await recordCampaignStatus(inWorkspace, id, now);
    confirmed[name === 'pause' ? 'paused' : 'cancelled'] += 1;
  }
  return { confirmed, testimony: await releaseDialing(tx, cluster, witness?.watermark ?? 0) };
}
