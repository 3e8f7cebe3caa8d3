import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { CallToPlace } from '../../src/calls/place-calls.ts';
import { createClaiming } from '../../src/campaigns/claiming.ts';
import { systemClock } from '../../src/clock.ts';
import { openLease } from '../../src/database/lease.ts';
import { noOperatorLimits } from '../../src/workspace/operator-limits.ts';
import { withDatabase } from '../database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { until } from '../until.ts';

const CAMPAIGNS = 100;

test('a workspace with a hundred campaigns holds up no claim of another', () =>
  withDatabase(async (database) => {
    const [noisy, quiet] = [await seedWorkspace(database), await seedWorkspace(database)];
    const paused = { contacts: 1, campaign: { status: 'paused' } } as const;
    await seedCampaign(database, { ...paused, workspaceId: quiet, number: () => 14_153_000_000 });
    for (let at = 0; at < CAMPAIGNS; at += 1)
      await seedCampaign(database, { ...paused, workspaceId: noisy, number: () => 14_152_000_000 + at });
    const run = (workspaceId: string) =>
      database.inEngine(({ db }) =>
        sql`update campaigns set status = 'running', next_claim_at = 'epoch' where workspace_id = ${workspaceId}`.execute(
          db,
        ),
      );
    const log = pino({ level: 'silent' });
    const lease = await openLease({ database, seconds: 30, log });
    const placed: string[] = [];
    const place = (calls: CallToPlace[]) => {
      if (placed.length === 0 && calls.length > 0) void run(quiet);
      placed.push(...calls.map(({ workspaceId }) => workspaceId));
    };
    const claiming = createClaiming({
      ...{ database, lease, log },
      clock: systemClock,
      switchboard: { place, free: () => 100, isSimulated: () => true, mayPlace: async () => true },
      operator: noOperatorLimits,
      startDue: async () => undefined,
      onFinished: async () => undefined,
    });
    claiming.start();
    await until(async () => {
      const { rows } = await database.inEngine(({ db }) =>
        sql`select from campaigns where not contacts_added`.execute(db),
      );
      return rows.length === 0;
    });
    await run(noisy);
    await until(() => expect(placed).toHaveLength(CAMPAIGNS + 1));
    // It became due when the first of the others was claimed.
    expect(placed.indexOf(quiet)).toBeLessThan(0.9 * CAMPAIGNS);
    await claiming.stop();
    await lease.release();
  }));
