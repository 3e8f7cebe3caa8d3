import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBatch } from '../../../src/dialing/batches/start-batch.ts';
import { claimIntent } from '../../../src/dialing/call-intents/claim-intent.ts';
import { createCall } from '../../../src/dialing/call-intents/create-call.ts';
import { waitingCalls } from '../../../src/dialing/call-intents/waiting-calls.ts';
import { askForCall } from '../../../src/dialing/calls/ask-for-call.ts';
import { callStore } from '../../../src/dialing/calls/store.ts';
import { checkStartable } from '../../../src/dialing/campaigns/check-startable.ts';
import { claimContacts } from '../../../src/dialing/campaigns/claim/claim-contacts.ts';
import { contactPage } from '../../../src/dialing/campaigns/list-contacts.ts';
import { campaignCallDetails } from '../../../src/dialing/campaigns/own-calls.ts';
import { previewCampaign } from '../../../src/dialing/campaigns/preview/preview-campaign.ts';
import { findCampaign } from '../../../src/dialing/campaigns/store.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { type Lease, openLease } from '../../../src/foundation/database/lease.ts';
import { utcDay } from '../../../src/foundation/values/clock.ts';
import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { noOperatorLimits, type OperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { byTest } from '../../by-test.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedUploadedList } from '../../seed/list.ts';
import { type Given, seedRow } from '../../seed/rows.ts';
import type { SeededNumber } from '../../seed/trunk.ts';
import { testClock } from '../../test-clock.ts';
import { campaignDeps } from '../campaigns/campaign-deps.ts';

/** Noon in UTC on a Friday. */
const noon = new Date('2026-11-20T12:00:00.000Z');
const callee = 14155550142;
/** Of each workspace another, as a number is one's alone. */
let fromNumber = '';
let nextLine = 1000;

let under: Awaited<ReturnType<typeof campaignDeps>>;
let lease: Lease;
beforeAll(async () => {
  under = await campaignDeps(testClock(noon, { stands: true }));
  lease = await openLease({ database: under.database, seconds: 600, log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await lease.release();
  await under.close();
});

/** Somebody who is to be called, and what stands in the way. */
interface Question {
  to?: number;
  /** Whether the number that calls is the callee's. */
  itself?: boolean;
  workspace?: Given<'workspaces'>;
  number?: SeededNumber;
  optedOut?: boolean;
  /** A list that holds the callee. */
  list?: Given<'contact_lists'>;
  upload?: Given<'contact_list_uploads'>;
  /** Whether the campaign names that list as one not to call. */
  named?: boolean;
  onACall?: boolean;
  calledToday?: boolean;
  /** Calls that the workspace has placed today. */
  placedToday?: number;
  operator?: Partial<OperatorLimits>;
}

/** A workspace with a number and two campaigns that call one person: a draft, and one that runs. */
async function ask({ to = callee, ...question }: Question) {
  const { database } = under;
  fromNumber = question.itself ? `+${to}` : `+1212555${nextLine++}`;
  const draft = await seedCampaign(database, {
    contacts: 1,
    number: () => to,
    ...(question.workspace && { workspace: question.workspace }),
    phoneNumber: { phone_number: fromNumber, ...question.number },
    campaign: { status: 'draft' },
  });
  const { workspaceId, listId } = draft;
  const workspace = { workspace_id: workspaceId };
  const { phone_number_id } = await database.inEngine(({ db }) =>
    db.selectFrom('campaigns').select('phone_number_id').where('id', '=', draft.campaignId).executeTakeFirstOrThrow(),
  );
  const counters = { contacts_added: true, total_contacts: 1, pending: 1 };
  const { id: campaignId } = await seedRow(database, 'campaigns', { ...workspace, ...counters, phone_number_id });
  await database.inEngine(({ db }) =>
    db
      .insertInto('campaign_lanes')
      .values({
        ...workspace,
        campaign_id: campaignId,
        lane: 1,
        timezones: ['America/Los_Angeles'],
        opens_at: noon,
        closes_at: new Date(0),
      })
      .execute(),
  );
  await seedRow(database, 'campaign_contacts', {
    ...workspace,
    campaign_id: campaignId,
    list_id: listId,
    phone_number: to,
  });
  if (question.optedOut) await seedRow(database, 'do_not_call', { ...workspace, phone_number: to });
  if (question.list || question.upload) {
    const given = { list: { type: 'dnd' as const, ...question.list }, upload: question.upload ?? {} };
    const list = await seedUploadedList(database, workspaceId, [{ phone_number: to }], given);
    for (const id of question.named ? [draft.campaignId, campaignId] : []) {
      await seedRow(database, 'campaign_lists', { ...workspace, campaign_id: id, list_id: list.listId, role: 'dnd' });
    }
  }
  if (question.onACall) await seedRow(database, 'calls', { ...workspace, to_number: to, phone_number_id: newUuid() });
  if (question.calledToday) {
    const ended = { status: 'completed' as const, queued_at: noon, dialed_at: noon, ended_at: noon };
    await seedRow(database, 'calls', { ...workspace, ...ended, to_number: to, phone_number_id: newUuid() });
  }
  if (question.placedToday !== undefined) {
    await seedRow(database, 'workspace_usage', { ...workspace, day: utcDay(noon), calls: question.placedToday });
  }
  const operator = { ...noOperatorLimits, ...question.operator };
  return { workspaceId, draftId: draft.campaignId, campaignId, to, operator };
}

type Asked = Awaited<ReturnType<typeof ask>>;
const isSimulated = () => true;

/** Whether the draft could start, and who would be called by it. */
const start = ({ workspaceId, draftId }: Asked) =>
  under.database.inWorkspace(workspaceId, async (tx) => {
    const obstacle = await checkStartable(
      tx,
      (await findCampaign(tx, draftId))!,
      { id: 'agent', name: 'agent' },
      under.deps.providers,
    );
    const reasons = { no_outbound_number: 'no_caller_id', no_callable_contacts: 'do_not_call' };
    return obstacle ? reasons[obstacle.reason as keyof typeof reasons] : 'called';
  });

const preview = ({ workspaceId, draftId, operator }: Asked) =>
  under.database.inWorkspace(workspaceId, async (tx) => {
    const { sample, callable, leftOut } = await previewCampaign(tx, (await findCampaign(tx, draftId))!, 20, {
      ...under.deps,
      now: noon,
      operator,
    });
    const reason = sample[0]!.reason ?? 'called';
    // What is left out is counted; who is only waiting for a time would be called.
    const isLeftOut =
      ['do_not_call', 'invalid_number', 'country_not_allowed', 'no_caller_id'].includes(reason) ||
      (reason === 'operator_limit' && operator.maxCallsPerDay === undefined);
    expect({ callable, leftOut }).toEqual(
      isLeftOut ? { callable: 0, leftOut: { [reason]: 1 } } : { callable: 1, leftOut: {} },
    );
    return reason;
  });

async function batch({ workspaceId, to, operator }: Asked) {
  const input = { agentId: 'agent', fromNumber, recipients: [{ phoneNumber: `+${to}` }] };
  try {
    const request = { workspaceId, input, idempotencyKey: undefined, auditEntryOf: byTest };
    const { started } = await startBatch({ ...under.deps, operator }, request);
    return started.rejectedRecipients[0]?.code ?? 'called';
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'campaign_not_startable') return 'no_caller_id';
    throw error;
  }
}

/** The call of a run, which is taken back. */
async function run({ workspaceId, to, operator }: Asked) {
  const wish = {
    workspaceId,
    owner: { kind: 'run', id: newUuid() },
    attempt: 1,
    to: `+${to}`,
    from: { number: fromNumber },
    agentId: 'agent',
    variables: {},
    ringTimeoutSeconds: 30,
    maxCallSeconds: 60,
    recording: false,
    asksAgain: true,
    hours: {},
  };
  const over = new Error('over');
  let answered = '';
  const asked = under.database.inEngine(async (tx) => {
    const answer = await askForCall(tx, wish, { serverId: lease.serverId(), now: noon, isSimulated, operator });
    if (answer.kind === 'queued') answered = 'called';
    else answered = answer.kind === 'refused' ? answer.outcome : answer.reason;
    throw over;
  });
  await expect(asked).rejects.toBe(over);
  return answered;
}

/** A call by itself, which is taken back where it is placed. */
async function single({ workspaceId, to, operator }: Asked) {
  const input = { agentId: 'agent', fromNumber, toNumber: `+${to}` };
  const order = { workspaceId, input, idempotencyKey: undefined, auditEntryOf: byTest };
  const calls = callStore(campaignCallDetails, waitingCalls);
  const created = await createCall({ ...under.deps, calls, operator }, order).catch((error) => {
    if (error instanceof ServiceError && error.code === 'campaign_not_startable') return 'no_caller_id';
    if (error instanceof ServiceError && error.code === 'call_refused') return error.details![0]!.reason!;
    throw error;
  });
  if (typeof created === 'string') return created;
  const { roomId, reason } = created.call;
  if (reason) return reason;
  const over = new Error('over');
  let answered: string | undefined;
  const inHotLoop: Database['inHotLoop'] = (fn) =>
    under.database.inHotLoop(async (tx) => {
      const isCalled = (await fn(tx)) !== undefined;
      const intent = tx.db.selectFrom('call_intents').select('reason').where('id', '=', fromId(roomId));
      answered = isCalled ? 'called' : ((await intent.executeTakeFirst())?.reason ?? undefined);
      throw over;
    });
  const terms = { serverId: lease.serverId(), now: noon, isSimulated, operator };
  const key = { workspaceId, roomId: fromId(roomId) };
  await expect(claimIntent({ ...under.database, inHotLoop }, key, terms, async () => {})).rejects.toBe(over);
  return answered;
}

/** What the running campaign does, and why not where it calls nobody. */
async function claim({ workspaceId, campaignId, operator }: Asked) {
  const terms = { serverId: lease.serverId(), free: 50, now: noon, isSimulated, operator };
  const { calls } = await claimContacts(under.database, { workspaceId, campaignId }, terms, async () => {});
  if (calls.length > 0) return 'called';
  const page = { page: 1, perPage: 10, order: 'asc' as const, searchText: undefined };
  const { rows } = await under.database.inWorkspace(workspaceId, async (tx) =>
    contactPage(
      tx,
      (await findCampaign(tx, campaignId))!,
      { ...page, states: undefined, reason: undefined },
      { ...under.deps, now: noon, operator },
    ),
  );
  return rows[0]!.reason ?? 'not called';
}

const everybody = (answer: string) => ({
  ...{ start: answer, preview: answer, batch: answer, run: answer, single: answer, claim: answer },
});
/** What a start doesn't ask: it refuses a campaign in which nobody is left at all. */
const atRecipients = (answer: string) => ({ ...everybody(answer), start: 'called' });
/** What passes with time: who accepts a batch or starts a campaign calls later. */
const atCalls = (answer: string) => ({ ...atRecipients(answer), batch: 'called' });
const atDialing = (answer: string) => ({ ...atCalls(answer), preview: 'called' });

/** Noon in UTC, and four in the morning where the callee is. */
const quietHours = { quiet_hours_start: 3 * 60, quiet_hours_end: 14 * 60 };

test.each<[string, Question, ReturnType<typeof everybody>]>([
  ['somebody', {}, everybody('called')],
  ['somebody who opted out', { optedOut: true }, everybody('do_not_call')],
  ['an entry of a do-not-call list', { list: {} }, everybody('do_not_call')],
  ['an entry of a do-not-call list that was deleted', { list: { status: 'archived' } }, everybody('called')],
  ['an entry of an upload that was not confirmed', { upload: { status: 'validated' } }, everybody('called')],
  ['an entry of a list of contacts', { list: { type: 'contacts' } }, everybody('called')],
  [
    'an entry of a list that the campaign does not call',
    { list: { type: 'contacts' }, named: true },
    { ...everybody('do_not_call'), batch: 'called', run: 'called', single: 'called' },
  ],
  ['a number that no plan has', { to: 14150000000 }, atRecipients('invalid_number')],
  ['the number that calls', { to: 12125559999, itself: true }, atRecipients('invalid_number')],
  ['an emergency number', { to: 49112 }, atRecipients('invalid_number')],
  [
    'a number no plan has, of somebody who opted out',
    { to: 14150000000, optedOut: true },
    { ...everybody('do_not_call'), batch: 'invalid_number', run: 'invalid_number', single: 'invalid_number' },
  ],
  ['a country that the workspace calls', { workspace: { allowed_countries: ['US'] } }, everybody('called')],
  ['a country that it does not', { workspace: { allowed_countries: ['DE'] } }, atRecipients('country_not_allowed')],
  [
    'a country that the number does not',
    { number: { allowed_outbound_countries: ['DE'] } },
    atRecipients('country_not_allowed'),
  ],
  ['a premium-rate number', { to: 19002341234 }, atRecipients('country_not_allowed')],
  [
    'a premium-rate number that may be called',
    { to: 19002341234, workspace: { premium_rate_allowed: true } },
    everybody('called'),
  ],
  ['a personal number', { to: 447012345678 }, atRecipients('country_not_allowed')],
  ['a satellite number', { to: 8816123456789 }, atRecipients('country_not_allowed')],
  ['from a suspended number', { number: { status: 'suspended' } }, everybody('no_caller_id')],
  [
    'over a trunk that has failed',
    { number: { trunk: { status: 'paused', reason: 'unreachable' } } },
    { ...everybody('no_caller_id'), run: 'trunk_paused', claim: 'trunk_paused' },
  ],
  ['over no trunk', { number: { provider: 'sip' } }, everybody('no_caller_id')],
  ['over a trunk that passed', { number: { trunk: {} } }, everybody('called')],
  ['while dialing is paused', { workspace: { dialing_paused_at: noon } }, atCalls('dialing_paused')],
  ['in quiet hours', { workspace: quietHours }, atCalls('quiet_hours')],
  ['with no live call left', { workspace: { max_concurrent_calls: 0 } }, atCalls('limit_reached')],
  ['with no call left today', { workspace: { max_calls_per_day: 0 } }, atCalls('limit_reached')],
  ['a country that the operator opens', { operator: { allowedCountries: ['US'] } }, everybody('called')],
  [
    'a country that the operator does not open, though the workspace does',
    { operator: { allowedCountries: ['DE'] }, workspace: { allowed_countries: ['US'] } },
    atRecipients('operator_limit'),
  ],
  [
    'a country that neither opens',
    { operator: { allowedCountries: ['DE'] }, workspace: { allowed_countries: ['DE'] } },
    atRecipients('operator_limit'),
  ],
  [
    'a premium-rate number that only the workspace allows',
    { to: 19002341234, workspace: { premium_rate_allowed: true }, operator: { premiumRate: false } },
    atRecipients('operator_limit'),
  ],
  [
    'with one call of the operator left today',
    { operator: { maxCallsPerDay: 3 }, placedToday: 2 },
    everybody('called'),
  ],
  [
    'with no call of the operator left today',
    { operator: { maxCallsPerDay: 3 }, placedToday: 3 },
    atCalls('operator_limit'),
  ],
  [
    'with no call of the operator left today, though the workspace has more',
    { operator: { maxCallsPerDay: 3 }, placedToday: 3, workspace: { max_calls_per_day: 5 } },
    atCalls('operator_limit'),
  ],
  [
    'with no call of the workspace left today, though the operator allows more',
    { operator: { maxCallsPerDay: 5 }, placedToday: 3, workspace: { max_calls_per_day: 3 } },
    atCalls('limit_reached'),
  ],
  [
    'with no attempt left today',
    { workspace: { max_attempts_per_person_per_day: 1 }, calledToday: true },
    atDialing('limit_reached'),
  ],
  ['somebody who is on a call', { onACall: true }, atDialing('already_on_a_call')],
])('everybody who asks is told the same of %s', async (_, question, answers) => {
  const asked = await ask(question);
  expect({
    start: await start(asked),
    preview: await preview(asked),
    batch: await batch(asked),
    run: await run(asked),
    single: await single(asked),
    claim: await claim(asked),
  }).toEqual(answers);
});
