import { onTestFinished, test } from 'vitest';
import { startCampaign } from './campaign.ts';
import { hasPatroni, startCluster } from './cluster.ts';

/** What the guide promises, in seconds. */
const [AFTER_POSTGRES, AFTER_MACHINE] = [30, 45];

const tell = (what: string, seconds: number) => process.stderr.write(`  after ${what}: ${seconds.toFixed(1)} s\n`);

test.skipIf(!hasPatroni)(
  'two servers dial on after PostgreSQL was killed and after a machine died, each as fast as the guide says',
  async () => {
    const cluster = await startCluster();
    onTestFinished(cluster.stop);
    await cluster.untilWhole();
    const campaign = await startCampaign(cluster, 300, 2);
    onTestFinished(campaign.stop);
    tell('PostgreSQL', await campaign.goesOnAfter(cluster.killPostgres, AFTER_POSTGRES));
    // The former primary comes back by itself as a standby.
    await cluster.untilWhole();
    let dead = 0;
    const dies = (machine: number) => {
      dead = machine;
      return cluster.killMachine(machine);
    };
    tell('a machine', await campaign.goesOnAfter(dies, AFTER_MACHINE));
    await cluster.startMachine(dead);
    await cluster.untilWhole();
    await campaign.expectWholeAndOnce();
  },
  600_000,
);
