import { onTestFinished, test } from 'vitest';
import { startCampaign } from './campaign.ts';
import { hasPatroni, startCluster } from './cluster.ts';

test.skipIf(!hasPatroni)(
  'PostgreSQL that fails over by itself, which needs patroni and etcd-server: a campaign goes on, and nobody is called twice',
  async () => {
    const cluster = await startCluster();
    onTestFinished(cluster.stop);
    await cluster.untilWhole();
    const campaign = await startCampaign(cluster, 60, 1);
    onTestFinished(campaign.stop);
    await campaign.goesOnAfter(cluster.killPostgres, 60);
    await campaign.expectWholeAndOnce();
  },
);
