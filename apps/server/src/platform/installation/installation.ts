import { sql } from 'kysely';
import type { Database, Tx } from '../../foundation/database/database.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { Installation } from './judge-restore.ts';
import { readNumbers } from './slots.ts';

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

/** The installation's row, locked until the transaction ends, with the numbers of its slots. */
export async function lockInstallation(tx: Tx): Promise<Installation> {
  const { rows } = await sql<Omit<Installation, 'numbers'>>`${installation} for update`.execute(tx.db);
  return { ...rows[0]!, numbers: await readNumbers(tx) };
}

/** The same, only looked at. */
export async function readInstallation(tx: Tx): Promise<Installation> {
  const { rows } = await sql<Omit<Installation, 'numbers'>>`${installation}`.execute(tx.db);
  return { ...rows[0]!, numbers: await readNumbers(tx) };
}

/** Notes where the database is. */
export async function noteCluster({ db }: Tx, { system_identifier, timeline }: Cluster): Promise<void> {
  await sql`
    update installation set system_identifier = ${system_identifier}, timeline = ${timeline}
    where (system_identifier, timeline) is distinct from (${system_identifier}::text, ${timeline}::integer)`.execute(
    db,
  );
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

/**
 * Lets dialing be resumed, once the slots have risen past whatever a server or a witness has seen of the database.
 * @param witnessed what a former version's witness knows of the watermark
 */
export async function releaseDialing(
  { db }: Tx,
  { system_identifier, timeline }: Cluster,
  witnessed: number,
): Promise<void> {
  await sql`
    update installation set held_at = null, held_reason = null, system_identifier = ${system_identifier},
      timeline = ${timeline}, witnessed = false, watermark = greatest(watermark, ${witnessed}) + ${PAST_ALL_SEEN}`.execute(
    db,
  );
}

/** No server of the former version raises the watermark as often while it lives. */
const PAST_ALL_SEEN = 1_000_000;

/** SQL: whether dialing is not held. Placement names it. */
export const isNotHeld = sql<boolean>`exists (select from installation where held_at is null)`;

/** Throws `unavailable` while the operator has not confirmed a restore. */
export async function refuseWhileHeld({ db }: Tx): Promise<void> {
  const { rows } = await sql`select from installation where held_at is not null`.execute(db);
  if (rows.length === 0) return;
  throw new ServiceError(
    'unavailable',
    'The database was restored from a backup, so people may be called twice. The operator of this server has to confirm it first.',
  );
}
