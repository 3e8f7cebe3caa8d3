import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { addContacts } from '../../src/dialing/campaigns/add-contacts.ts';
import { contactPage } from '../../src/dialing/campaigns/list-contacts.ts';
import { previewCampaign } from '../../src/dialing/campaigns/preview/preview-campaign.ts';
import { findCampaign } from '../../src/dialing/campaigns/store.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { type SeededCampaign, seedCampaign } from '../seed/campaign.ts';
import { callsOf } from './audit.ts';
import { contactsOf, startTestDialer, untilCompleted } from './dialing.ts';

/** Noon of a Tuesday where all of the callees are. */
const CONTACTS = 61;
/** The one that is spoiled: within the first batch. */
const HOSTILE = 7;
const hostileNumber = 14_152_000_000 + HOSTILE;

interface Case {
  /** The time zone of its entry. */
  timezone?: string;
  /** What is changed once the contacts are added: `$hostile` names the contact. */
  change?: string;
  reason: string;
}

const cases: [string, Case][] = [
  ...['PST', 'BST', 'IST', 'JST', 'EST', 'Mars/Olympus', ''].map((timezone): [string, Case] => [
    `has the time zone ${timezone || 'of no letters'}`,
    { timezone, reason: 'invalid_time_zone' },
  ]),
  [
    'stands in a lane that an older version made',
    {
      timezone: 'Europe/Berlin',
      change: `update campaign_lanes set timezones = '{PST}' where is_own`,
      reason: 'invalid_time_zone',
    },
  ],
  [
    'has a number that is none',
    { change: 'update campaign_contacts set phone_number = 9223372036854775807 $hostile', reason: 'invalid_number' },
  ],
  [
    'has a number below zero',
    { change: 'update campaign_contacts set phone_number = -5 $hostile', reason: 'invalid_number' },
  ],
  [
    'has been tried as often as can be counted',
    { change: 'update campaign_contacts set attempt = 32767 $hostile', reason: 'invalid_contact' },
  ],
];

/** A paused campaign of 61 people, one of them hostile, at any hour of whom it calls. */
async function hostileCampaign(database: Database, { timezone, change }: Case): Promise<SeededCampaign> {
  const campaign = await seedCampaign(database, {
    contacts: CONTACTS,
    ...(timezone !== undefined && { timezone: (i: number) => (i === HOSTILE ? timezone : null) }),
    campaign: { status: 'paused', schedule_start: 0, schedule_end: 1440 },
    workspace: { max_attempts_per_person_per_day: 100 },
  });
  while (await addContacts(database, campaign, new Date()));
  const hostile = `where phone_number = ${hostileNumber}`;
  if (change) await write(database, change.replace('$hostile', hostile));
  await write(database, `update campaigns set status = 'running'`);
  return campaign;
}

const write = (database: Database, text: string) => database.inEngine(({ db }) => sql.raw(text).execute(db));

/** The campaign as clients read it. */
async function readBy(database: Database, { workspaceId, campaignId }: SeededCampaign) {
  const isSimulated = () => true;
  const terms = { now: new Date(), providers: ['simulator'] as const, operator: noOperatorLimits, isSimulated };
  return database.inWorkspace(workspaceId, async (tx) => {
    const campaign = (await findCampaign(tx, campaignId))!;
    const query = { page: 1, perPage: 100, order: 'asc' as const, searchText: undefined };
    const { rows } = await contactPage(tx, campaign, { ...query, states: undefined, reason: undefined }, terms);
    return { rows, preview: await previewCampaign(tx, campaign, 20, terms) };
  });
}

test.concurrent.each(cases)('a campaign of 61 calls 60 where one %s', (_, hostile) =>
  withDatabase(async (database) => {
    const campaign = await hostileCampaign(database, hostile);
    const before = await readBy(database, campaign);
    expect(before.rows).toHaveLength(CONTACTS);
    const isKnownBefore = hostile.reason !== 'invalid_contact';
    expect(before.preview.leftOut).toEqual(isKnownBefore ? { [hostile.reason]: 1 } : {});

    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const { stop } = await startTestDialer(database, { log });
    await untilCompleted(database, campaign.campaignId);
    await stop();
    expect(new Set((await callsOf(database, campaign.campaignId)).map((call) => call.to_number)).size).toBe(
      CONTACTS - 1,
    );
    const skipped = (await contactsOf(database, campaign.campaignId)).filter(({ state }) => state === 'skipped');
    expect(skipped.map(({ reason }) => reason)).toEqual([hostile.reason]);
    const told = lines.filter((line) => line.includes(skipped[0]!.id));
    expect(told).toHaveLength(hostile.reason === 'invalid_number' ? 0 : 1);
    const { rows } = await readBy(database, campaign);
    expect(rows.filter(({ state }) => state === 'skipped').map(({ reason }) => reason)).toEqual([hostile.reason]);
  }),
);

test.concurrent.each([
  ['name', `name = repeat('x', 100000)`],
  ['values of no columns', `"values" = array['a', 'b', null, 'c']`],
  ['values of values', `"values" = array[array['a'], array['b']]`],
  ['metadata of another kind', `metadata = '[1, {"a": null}]'`],
  ['metadata of metadata', `metadata = '{"a": {"b": 1}, "__proto__": 7}'`],
])('an odd row is called: %s', (_, set) =>
  withDatabase(async (database) => {
    const change = `update campaign_contacts set ${set} $hostile`;
    const campaign = await hostileCampaign(database, { change, reason: '' });
    const { stop } = await startTestDialer(database);
    await untilCompleted(database, campaign.campaignId);
    await stop();
    expect(new Set((await callsOf(database, campaign.campaignId)).map((call) => call.to_number)).size).toBe(CONTACTS);
    expect((await readBy(database, campaign)).rows).toHaveLength(CONTACTS);
  }),
);
