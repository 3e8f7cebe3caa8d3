import pg from 'pg';
import type { Database } from '../apps/server/src/foundation/database/database.ts';
import { newUuid } from '../apps/server/src/foundation/values/ids.ts';
import { newKey } from '../apps/server/src/platform/api-keys/key.ts';
import { seedNumber } from '../apps/server/test/seed/workspace.ts';
import { forkTrunkline } from './child.ts';
import { POOL_SIZE, settle, startPostgres, temporaryFolder } from './postgres.ts';
import { type Effort, inTurns, median, percentile } from './rounds.ts';
import type { Found } from './table.ts';

const SIZES = { whole: { rounds: 5, batches: 40 }, quick: { rounds: 1, batches: 20 } };
const RECIPIENTS = 1000;
const FROM = '+14155550100';

/** Batches of 1,000 that are accepted one after another, against a bare insert of the same rows. */
export async function benchBatch(effort: Effort): Promise<Found> {
  const { rounds, batches } = SIZES[effort];
  const { database, connectionString } = await (await startPostgres()).database();
  const apiKey = newKey('bench');
  const { port } = await forkTrunkline({
    DATABASE_URL: connectionString,
    DATA_DIR: await temporaryFolder(),
    BOOTSTRAP_API_KEY: apiKey,
    POOL_SIZE: String(POOL_SIZE),
    RATE_LIMIT_PER_MINUTE: '0',
  });
  const workspaceId = await workspaceOf(database);
  await seedNumber(database, workspaceId, FROM);
  const peer = new pg.Client({ connectionString });
  await peer.connect();
  await peer.query(`set trunkline.workspace = '${workspaceId}'`);

  const milliseconds: number[] = [];
  const rates = await inTurns(['trunkline', 'insert'], rounds, async (name, isWarmUp) => {
    await settle(connectionString);
    const from = performance.now();
    for (let batch = 0; batch < batches; batch += 1) {
      const began = performance.now();
      if (name === 'insert') await bareInsert(peer, workspaceId);
      else await startBatch(port, apiKey);
      if (name === 'trunkline' && !isWarmUp) milliseconds.push(performance.now() - began);
    }
    return batches / ((performance.now() - from) / 1000);
  });
  await peer.end();
  return {
    rows: [
      {
        what: 'batches of 1,000 accepted, one after another',
        ours: median(rates.trunkline),
        peer: 'multi-row insert of the same rows',
        theirs: median(rates.insert),
        unit: '/s',
        aim: '≥ 0.5',
      },
    ],
    costs: [
      { what: 'a batch of 1,000 accepted, p50', value: percentile(milliseconds, 0.5), unit: 'ms', aim: '≤ 60 ms' },
      { what: 'a batch of 1,000 accepted, p99', value: percentile(milliseconds, 0.99), unit: 'ms', aim: '≤ 150 ms' },
    ],
  };
}

async function workspaceOf(database: Database): Promise<string> {
  const { id } = await database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
  );
  return id;
}

const recipients = Array.from({ length: RECIPIENTS }, (_, at) => ({
  phoneNumber: `+1415${5_560_000 + at}`,
  name: `Person ${at}`,
  externalId: `order-${at}`,
  metadata: { orderId: String(at), city: 'Oakland' },
}));

/** Scheduled for later, so that no call stands in the way. */
const body = JSON.stringify({
  agentId: 'agent_delivery',
  fromNumber: FROM,
  recipients,
  metadata: { depot: 'Oakland' },
  scheduledAt: '2099-01-01T00:00:00.000Z',
});

async function startBatch(port: number, apiKey: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/calls/batch`, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
    body,
  });
  const answer = (await response.json()) as { acceptedRecipients?: unknown[] };
  if (answer.acceptedRecipients?.length !== RECIPIENTS) throw new Error(JSON.stringify(answer).slice(0, 500));
}

/** As text once, since it is always the same. */
const insertContacts = `
  insert into campaign_contacts (workspace_id, campaign_id, id, list_id, phone_number, name, "values", lane, state,
    next_attempt_at, external_id, metadata) values ${placeholders(12)}`;
const insertEntries = `
  insert into contact_list_entries (workspace_id, upload_id, phone_number, row_number, name, "values")
  values ${placeholders(6)}`;

/** The rows of a batch's contacts, in its campaign and in its list, in one transaction. */
async function bareInsert(client: pg.Client, workspaceId: string): Promise<void> {
  const [campaignId, uploadId, now] = [newUuid(), newUuid(), new Date()];
  const contacts = recipients.flatMap(({ phoneNumber, name, externalId, metadata }) => {
    const number = phoneNumber.slice(1);
    return [
      workspaceId,
      campaignId,
      newUuid(),
      campaignId,
      number,
      name,
      '{}',
      1,
      'pending',
      now,
      externalId,
      metadata,
    ];
  });
  const entries = recipients.flatMap(({ phoneNumber, name }, at) => {
    return [workspaceId, uploadId, phoneNumber.slice(1), at + 1, name, '{}'];
  });
  await client.query('begin');
  await client.query(insertContacts, contacts);
  await client.query(insertEntries, entries);
  await client.query('commit');
}

/** `($1, $2), ($3, $4)`, so many to each recipient. */
function placeholders(columns: number): string {
  const row = (_: unknown, at: number) =>
    `(${Array.from({ length: columns }, (_, column) => `$${at * columns + column + 1}`).join(', ')})`;
  return recipients.map(row).join(', ');
}
