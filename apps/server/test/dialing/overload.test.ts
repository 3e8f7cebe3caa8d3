import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../src/foundation/database/database.ts';
import type { SimulatorTime } from '../../src/lines/telephony/simulator/time.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { until } from '../until.ts';
import { countersOf, dialedWrongly } from './audit.ts';
import { startTestDialer, untilCompleted } from './dialing.ts';

/** Business time runs ten times as fast as the machine: it seems ten times too slow. */
const TOO_SLOW = 10;
const began = Date.now();
const now = () => new Date(began + TOO_SLOW * (Date.now() - began));
const time: SimulatorTime = {
  now,
  wakeAt: (at, run) => {
    const timer = setTimeout(run, Math.max(0, at - now().getTime()) / TOO_SLOW);
    return () => clearTimeout(timer);
  },
};

/** Notes how many calls each claim takes, and answers them. */
async function noteClaims(database: Database): Promise<() => Promise<number[]>> {
  await database.pool.query(`
    create table claims (at serial, calls integer);
    create function note_claim() returns trigger language plpgsql as $$ begin
      insert into claims (calls) select count(*) from claimed having count(*) > 0; return null; end $$;
    create trigger note_claim after insert on calls referencing new table as claimed
      for each statement execute function note_claim()`);
  return async () => {
    const { rows } = await database.pool.query('select calls from claims order by at');
    return rows.map(({ calls }) => calls);
  };
}

test('who comes too late with its calls claims fewer and fewer, and more again once it is in time', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, { contacts: 200, campaign: { max_concurrency: 16 } });
    const claims = await noteClaims(database);
    let delayMs = 150;
    const slow: Database = {
      ...database,
      inHotLoop: async (act) => {
        // What is said to take so long: no test waits for it.
        await sleep(delayMs);
        return database.inHotLoop(act);
      },
    };
    const { stop } = await startTestDialer(slow, { time });
    await until(async () => (await claims()).slice(-2).join() === '1,1');
    const whileSlow = (await claims()).length;
    delayMs = 0;
    await untilCompleted(database, campaignId);
    await stop();
    expect((await claims())[0]).toBe(16);
    expect(Math.max(...(await claims()).slice(whileSlow))).toBeGreaterThan(4);
    expect(await dialedWrongly(database)).toEqual([]);
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ done: number }>`select done from campaigns where id = ${campaignId}`.execute(db),
    );
    expect(rows).toEqual([{ done: 200 }]);
  }));
