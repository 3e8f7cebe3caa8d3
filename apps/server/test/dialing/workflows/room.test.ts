import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { campaignRow } from '../dialing.ts';
import { definitionOf, end } from './nodes.ts';
import { startRunServer } from './run-server.ts';

const FROM = '+12125550199';

test('a campaign that fills the limit of its workspace leaves room for the calls of runs', async () => {
  const server = await startRunServer({ config: { simulatorSpeed: 300 } });
  const { database, workspaceId } = server;
  await seedNumber(database, workspaceId, FROM);
  await database.inEngine(({ db }) =>
    sql`update workspaces set max_concurrent_calls = 2 where id = ${workspaceId}`.execute(db),
  );
  const { campaignId } = await seedCampaign(database, { contacts: 2000, workspaceId });
  await until(async () => (await campaignRow(database, campaignId)).in_flight === 2);
  const ring = {
    id: 'ring',
    type: 'call' as const,
    title: 'Ring',
    agentId: 'agent',
    fromNumber: FROM,
    to: '{{phone_number}}',
    next: 'done',
  };
  const workflowId = await server.publish(definitionOf([ring, end()]));
  const runs = await Promise.all(
    Array.from({ length: 10 }, (_, at) => server.begin(workflowId, { context: { phone_number: `+1415555010${at}` } })),
  );
  await until(async () => {
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ calls: number }>`
        select count(*)::int as calls from calls where owner_kind = 'run' and ended_at is not null`.execute(db),
    );
    return rows[0]!.calls >= runs.length;
  });
  const { status, in_flight, pending } = await campaignRow(database, campaignId);
  expect({ status, went: pending < 2000 - runs.length / 2 }).toEqual({ status: 'running', went: true });
  expect(in_flight).toBeLessThanOrEqual(2);
  await server.stop();
});
