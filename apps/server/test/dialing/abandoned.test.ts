import { expect, test } from 'vitest';
import { retryMachine } from '../../src/dialing/campaigns/retry-machine.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { testClock } from '../test-clock.ts';
import { until } from '../until.ts';
import { callsOf, countersOf } from './audit.ts';
import { campaignRow, contactsOf, startTestDialer, untilCompleted } from './dialing.ts';
import { toldOtherwise, unheard } from './told-otherwise.ts';

const NOON = '2026-03-10T12:00:00Z';
const HOUR = 3_600_000;
/** Callees who answer. */
const answering = (i: number) => 12_005_550_100 + i * 10_000_000;
const isIdle = async (database: Database, campaignId: string) => {
  const { in_flight, attempts } = await campaignRow(database, campaignId);
  return attempts > 0 && in_flight === 0;
};

test.concurrent('who answered and found no agent counts as agent_error, and is not called again', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const campaign = { retry_policy: [5] };
    const { campaignId } = await seedCampaign(database, { contacts: 2, number: answering, campaign });
    const { stop } = await startTestDialer(database, { time, gateway: (each) => toldOtherwise(each, unheard) });
    await untilCompleted(database, campaignId);
    await stop();
    expect(await campaignRow(database, campaignId)).toMatchObject({ answered: 0, agent_error: 2, attempts: 2 });
    for (const contact of await contactsOf(database, campaignId))
      expect(contact).toMatchObject({ state: 'done', reason: 'abandoned', tries: 1, last_outcome: 'agent_error' });
    for (const call of await callsOf(database, campaignId)) expect(call.status).toBe('failed');
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('or is called again after the hours that the campaign says', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const campaign = { retry_policy: [5], abandoned_retry_hours: 72 };
    const { campaignId } = await seedCampaign(database, { contacts: 1, number: answering, campaign });
    const { stop } = await startTestDialer(database, { time, gateway: (each) => toldOtherwise(each, unheard) });
    await until(() => isIdle(database, campaignId));
    const [contact] = await contactsOf(database, campaignId);
    const [call] = await callsOf(database, campaignId);
    expect(contact).toMatchObject({ state: 'waiting', reason: 'retry_later', tries: 1 });
    expect(contact!.next_attempt_at.getTime() - call!.ended_at!.getTime()).toBe(72 * HOUR);
    await stop();
  }));

test.concurrent('a result that says that a machine answered has the contact called again as after a voicemail', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const campaign = { retry_policy: [5] };
    const { campaignId } = await seedCampaign(database, { contacts: 1, number: answering, campaign });
    const result = JSON.stringify({ answeredBy: 'machine' });
    const { stop } = await startTestDialer(database, {
      time,
      gateway: (each) =>
        toldOtherwise(each, async (ended) => {
          await database.inEngine(({ db }) =>
            db.updateTable('calls').set({ result }).where('id', '=', ended.roomId).execute(),
          );
          return unheard(ended);
        }),
    });
    await until(() => isIdle(database, campaignId));
    const [contact] = await contactsOf(database, campaignId);
    expect(contact).toMatchObject({ state: 'waiting', reason: 'retry_later', tries: 1, last_outcome: 'voicemail' });
    // An agent that tells something was there, though nobody heard it.
    expect(await campaignRow(database, campaignId)).toMatchObject({ answered: 1, agent_error: 0, waiting: 1 });
    await stop();
  }));

test.concurrent('so does one that comes up to an hour after the end, unless the contact was called since', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const campaign = { retry_policy: [5] };
    // The second one is busy, and keeps the campaign running.
    const number = (i: number) => (i === 0 ? answering(0) : 12_005_550_186);
    const { workspaceId, campaignId } = await seedCampaign(database, { contacts: 2, number, campaign });
    const { stop } = await startTestDialer(database, { time });
    await until(async () => (await campaignRow(database, campaignId)).done === 1);
    await stop();
    const [call] = (await callsOf(database, campaignId)).filter(({ outcome }) => outcome === 'answered');
    const told = (now: Date) => database.inWorkspace(workspaceId, (tx) => retryMachine(tx, call!.id, now));
    const ended = call!.ended_at!.getTime();
    await told(new Date(ended + HOUR + 1));
    expect((await contactsOf(database, campaignId))[0]).toMatchObject({ state: 'done', last_outcome: 'answered' });
    const soon = new Date(ended + HOUR - 1);
    await told(soon);
    const waiting = { state: 'waiting', tries: 1, last_outcome: 'voicemail', next_attempt_at: soon };
    expect((await contactsOf(database, campaignId))[0]).toMatchObject(waiting);
    await told(new Date(ended + HOUR - 1));
    expect((await contactsOf(database, campaignId))[0]).toMatchObject(waiting);
    expect(await campaignRow(database, campaignId)).toMatchObject({ done: 0, waiting: 2, answered: 1 });
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
  }));
