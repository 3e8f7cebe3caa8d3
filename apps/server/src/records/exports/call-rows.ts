import { type RawBuilder, sql } from 'kysely';
import { fromE164 } from '../../dialing/calls/call.ts';
import { type Call, shapeCall } from '../../dialing/calls/shape-call.ts';
import { transcriptsOf, withTranscript } from '../../dialing/calls/transcripts.ts';
import { campaignCallDetails } from '../../dialing/campaigns/own-calls.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { fromId } from '../../foundation/values/ids.ts';
import type { ExportDeps } from './deps.ts';
import type { CallFilter } from './export.ts';

/** Rows read at a time: a call can bear a megabyte. */
const CHUNK = 100;

/** The columns of the file: what the contract calls them, and of the result as well. */
const columns = [
  ...['roomId', 'status', 'outcome', 'direction', 'simulated', 'fromNumber', 'toNumber', 'agentId', 'phoneNumberId'],
  ...['campaignId', 'batchId', 'workflowRunId', 'contactId', 'attempt', 'externalId', 'tags', 'metadata', 'variables'],
  ...['queuedAt', 'dialedAt', 'ringingAt', 'answeredAt', 'endedAt', 'durationSeconds', 'endedBy', 'sipStatus'],
  ...['sipReason', 'reason'],
] as const satisfies readonly (keyof Call)[];
const resultColumns = [
  'converted',
  'optOut',
  'summary',
  'data',
  'disposition',
  'answeredBy',
  'cost',
] as const satisfies readonly (keyof NonNullable<Call['result']>)[];

/** The first line of a file of calls. */
export const callHeader: readonly string[] = [
  ...[...columns, ...resultColumns, 'agentEnd', 'usage'],
  ...['dataComplete', 'transcript', 'answeredByEvidence', 'messageLeft'],
];

const cellsOf = (call: Call): unknown[] => [
  ...columns.map((column) => call[column]),
  // Who answered is the agent's word, else what was heard.
  ...resultColumns.map((column) => (column === 'answeredBy' ? call : call.result)?.[column as 'answeredBy']),
  call.agentEnd,
  call.usage,
  call.result?.dataComplete,
  call.result?.transcript,
  call.answeredByEvidence,
  call.messageLeft,
];

/** The last call of a chunk. The time is text: that of the database is finer than a Date. */
interface Place {
  id: string;
  at: string;
}

/**
 * The calls of a workspace that a filter leaves, a set at a time. Each is read in a transaction of its own: what changes
 * meanwhile is in it or not, and no call is there twice.
 * @param until calls that are taken up from then on are left out
 */
export async function* callRows(
  { database, calls }: Pick<ExportDeps, 'database' | 'calls'>,
  workspaceId: string,
  filter: CallFilter,
  until: Date,
): AsyncGenerator<unknown[][]> {
  let after: Place | undefined;
  const next = async (tx: WorkspaceTx) => {
    const places = await nextPlaces(tx, filter, until, after);
    const rows = await calls.named(
      tx,
      places.map(({ id }) => ({ workspaceId, roomId: id })),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const said = await transcriptsOf(
      tx,
      workspaceId,
      rows.filter(({ result }) => result).map(({ id }) => id),
    );
    const found = places.flatMap(({ id }) => byId.get(id) ?? []);
    return { places, calls: found.map((row) => withTranscript(shapeCall(row), said.get(row.id))) };
  };
  for (;;) {
    const { places, calls: found } = await database.inWorkspace(workspaceId, next, { mayTakeLong: true });
    yield found.map(cellsOf);
    if (places.length < CHUNK) return;
    after = places.at(-1);
  }
}

/** Along the index of the campaign where there is one, else along that of the time. */
async function nextPlaces(tx: WorkspaceTx, filter: CallFilter, until: Date, after: Place | undefined) {
  const ofCampaign = filter.campaignId !== undefined || filter.batchId !== undefined;
  const order = ofCampaign ? sql`id` : sql`queued_at, id`;
  const conditions = [
    sql`workspace_id = ${tx.workspaceId} and queued_at < ${until}`,
    after && (ofCampaign ? sql`id > ${after.id}` : sql`(queued_at, id) > (${after.at}::timestamptz, ${after.id})`),
    ...conditionsOf(filter),
  ].filter((each) => each !== undefined);
  const { rows } = await sql<Place>`
    select id, queued_at::text as at from calls where ${sql.join(conditions, sql` and `)}
    order by ${order} limit ${sql.lit(CHUNK)}`.execute(tx.db);
  return rows;
}

function conditionsOf(filter: CallFilter): (RawBuilder<unknown> | undefined)[] {
  const { direction, statuses, outcomes, agentId, phoneNumber, campaignId, batchId, workflowRunId } = filter;
  const { externalId, tags, queuedAfter, queuedBefore } = filter;
  const { isBatch } = campaignCallDetails;
  const [campaign, batch] = [campaignId, batchId].map((id) => id && fromId(id));
  return [
    direction && sql`direction = ${direction}`,
    statuses && sql`status = any(${statuses})`,
    outcomes && sql`outcome = any(${outcomes})`,
    agentId && sql`agent_id = ${agentId}`,
    phoneNumber && sql`${fromE164(phoneNumber)} in (from_number, to_number)`,
    campaign && sql`campaign_id = ${campaign} and not ${isBatch(campaign)}`,
    batch && sql`campaign_id = ${batch} and ${isBatch(batch)}`,
    workflowRunId && sql`owner_id = ${fromId(workflowRunId)} and owner_kind = 'run'`,
    externalId && sql`external_id = ${externalId}`,
    tags && sql`tags @> ${tags}::text[]`,
    queuedAfter && sql`queued_at >= ${new Date(queuedAfter)}`,
    queuedBefore && sql`queued_at < ${new Date(queuedBefore)}`,
  ].map((each) => each || undefined);
}
