import { type RawBuilder, sql } from 'kysely';
import type { Database, Tx } from '../../foundation/database/database.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { Installation } from './judge-restore.ts';
import type { Testimony } from './witness.ts';

/** What a cluster is called, and which timeline it is on; null where the role may not know. */
export interface Cluster {
  system_identifier: string | null;
  timeline: number | null;
}

const INSUFFICIENT_PRIVILEGE = '42501';

export async function readCluster(database: Database): Promise<Cluster> {
  try {
    const { rows } = await database.inEngine(({ db }) =>
      sql<Cluster>`
        select s.system_identifier::text, c.timeline_id as timeline
        from pg_control_system() as s, pg_control_checkpoint() as c`.execute(db),
    );
    return rows[0]!;
  } catch (error) {
    if ((error as { code?: string }).code === INSUFFICIENT_PRIVILEGE)
      return { system_identifier: null, timeline: null };
    throw error;
  }
}

const installation = sql`select id, watermark, witnessed, system_identifier, timeline, held_reason from installation`;

/** The installation's row, locked until the transaction ends. */
export async function lockInstallation({ db }: Tx): Promise<Installation> {
  const { rows } = await sql<Installation>`${installation} for update`.execute(db);
  return rows[0]!;
}

/** The same, only looked at. */
export async function readInstallation({ db }: Tx): Promise<Installation> {
  const { rows } = await sql<Installation>`${installation}`.execute(db);
  return rows[0]!;
}

/** Raises the watermark. */
export async function raiseWatermark({ db }: Tx, { system_identifier, timeline }: Cluster): Promise<Testimony> {
  const { rows } = await sql<Testimony>`
    update installation set watermark = watermark + 1, system_identifier = ${system_identifier}, timeline = ${timeline}
    returning id, watermark`.execute(db);
  return rows[0]!;
}

export async function markWitnessed({ db }: Tx): Promise<void> {
  await sql`update installation set witnessed = true where not witnessed`.execute(db);
}

/** Holds dialing, and pauses it in every workspace, so that each can read why nobody is called. */
export async function holdDialing({ db }: Tx, reason: string, now: Date): Promise<undefined> {
  await sql`update installation set held_at = ${now}, held_reason = ${reason} where held_at is null`.execute(db);
  await sql`
    update workspaces set dialing_paused_at = ${now}, updated_at = ${now}, revision = revision + 1
    where dialing_paused_at is null`.execute(db);
}

/** Lets dialing be resumed. The watermark rises past whatever a server or a witness has seen of the database. */
export async function releaseDialing(
  { db }: Tx,
  { system_identifier, timeline }: Cluster,
  witnessed: number,
): Promise<Testimony> {
  const { rows } = await sql<Testimony>`
    update installation set held_at = null, held_reason = null, system_identifier = ${system_identifier},
      timeline = ${timeline}, watermark = greatest(watermark, ${witnessed}) + ${PAST_ALL_SEEN}
    returning id, watermark`.execute(db);
  return rows[0]!;
}

/** No server raises the watermark as often while it lives. */
const PAST_ALL_SEEN = 1_000_000;

/** What placement names: a database that is not older than this process has seen it, and in which dialing is not held. */
export const isCurrent = (watermark: number): RawBuilder<boolean> =>
  sql<boolean>`exists (select from installation where watermark >= ${watermark} and held_at is null)`;

/** Throws `unavailable` while the operator has not confirmed a restore. */
export async function refuseWhileHeld({ db }: Tx): Promise<void> {
  const { rows } = await sql`select from installation where held_at is not null`.execute(db);
  if (rows.length === 0) return;
  throw new ServiceError(
    'unavailable',
    'The database was restored from a backup, so people may be called twice. The operator of this server has to confirm it first.',
  );
}
