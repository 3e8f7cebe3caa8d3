import { sql } from 'kysely';
import { NIL } from 'uuid';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { CampaignKey } from './campaign.ts';

/** Erases what is left of the contacts of campaigns that were deleted. */
export const eraseContactsQueue = 'erase-contacts';

/**
 * Erases the next contacts of a campaign, in the order of their IDs.
 * @param after the UUID after which they come, so that those that are gone are not passed over again
 * @returns the last of them, where there may be more, also where others have deleted some of them meanwhile
 */
export async function eraseContacts(
  tx: WorkspaceTx,
  campaignId: string,
  after: string = NIL,
): Promise<string | undefined> {
  const { workspaceId } = tx;
  const { rows } = await sql<{ id: string }>`
    with picked as materialized (
        select id from campaign_contacts
        where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and id > ${after}
        order by id limit ${sql.lit(MOST_AT_ONCE)}),
      gone as (
        delete from campaign_contacts where workspace_id = ${workspaceId} and campaign_id = ${campaignId}
          and id = any(array(select id from picked)))
    select id from picked order by id offset ${sql.lit(MOST_AT_ONCE - 1)}`.execute(tx.db);
  return rows[0]?.id;
}

/** Begins to erase, in this process, contacts whose campaigns were deleted. Safe to run twice. */
export const startErasingContacts = ({ database, jobs }: { database: Database; jobs: Jobs }): Promise<void> =>
  jobs.work<CampaignKey>({
    queue: eraseContactsQueue,
    concurrency: 2,
    run: async ({ workspaceId, campaignId }, signal) => {
      let after: string | undefined = NIL;
      await inChunks(async () => {
        after = await database.inWorkspace(workspaceId, (tx) => eraseContacts(tx, campaignId, after));
        return after !== undefined;
      }, signal);
      signal.throwIfAborted();
    },
  });
