import { expect, test } from 'vitest';
import { judge } from './chaos.ts';
import type { CallOfHistory, History } from './history.ts';
import { laws, lawsOfLoss } from './laws/laws.ts';

const NOON = new Date('2026-11-23T12:00:00Z');
const noon = NOON.getTime();
const later = (ms: number) => new Date(noon + ms);

const calls: CallOfHistory[] = [
  {
    ...{
      id: 'call-1',
      status: 'completed',
      outcome: 'answered',
      ended_by: 'callee',
      ...{ to_number: 14152000001, from_number: 14155550300, direction: 'outbound' },
      attempt: 1,
    },
    ...{ campaign_id: 'campaign', owner_kind: 'contact', owner_id: 'contact-1', trunk_id: null },
    ...{ dialed_at: NOON, ended_at: later(2000), end_requested_at: null },
  },
  {
    ...{
      id: 'call-2',
      status: 'completed',
      outcome: 'answered',
      ended_by: 'callee',
      ...{ to_number: 14156000001, from_number: 14155550301, direction: 'outbound' },
      attempt: 1,
    },
    ...{ campaign_id: 'batch', owner_kind: 'contact', owner_id: 'contact-2', trunk_id: 'trunk' },
    ...{ dialed_at: NOON, ended_at: later(3000), end_requested_at: null },
  },
];

const again = (call: CallOfHistory | undefined, changes: Partial<CallOfHistory>) => ({ ...call!, ...changes });
const ofNobody = { campaign_id: null, owner_kind: 'arrival', owner_id: 'call-in', dialed_at: null };
calls.push(again(calls[1], { ...ofNobody, id: 'call-in', direction: 'inbound', from_number: 14159000001 }));

/** What a webhook is told of the end of a call that was answered. */
const ended = (room: string) => `{"data":{"roomId":"room_${room}","outcome":"answered"}}`;

const campaign = (id: string): History['campaigns'][number] => ({
  ...{ id, status: 'completed', total_contacts: 1, max_concurrency: 1, calls_per_second: 1, retry_policy: [] },
  ...{ kept: { done: 1 }, counted: { done: 1 } },
});

/** What a run leaves where nothing has gone wrong: a campaign's call, one over SIP, a run, an upload, a document. */
const right = (): History =>
  structuredClone<History>({
    promised: [
      {
        ...{ kind: 'campaign', id: 'campaign', contacts: 1, windows: { start: 600, end: 840 } },
        ...{ zones: new Map([[14152000001, 'UTC']]), refused: [14158000001], isStopped: false },
      },
      { kind: 'batch', id: 'batch', contacts: 1 },
      { kind: 'call', id: 'call-1' },
      { kind: 'run', id: 'run', person: 7 },
      { kind: 'upload', id: 'upload', rows: 5 },
      { kind: 'document', id: 'document' },
    ],
    silences: [{ campaign: 'campaign', from: noon + 10, to: noon + 9000 }],
    wrongAnswers: [],
    streams: [
      {
        ...{ kind: 'run', resource: 'run', seen: [1, 2], ended: true },
        told: [
          { revision: 1, type: 'workflow_run.queued', status: 'queued' },
          { revision: 2, type: 'workflow_run.completed', status: 'completed' },
        ],
      },
      {
        ...{ kind: 'campaign', resource: 'campaign', seen: [1, 2, 3], ended: false },
        told: [
          { revision: 1, type: 'campaign.running', status: 'running' },
          { revision: 2, type: 'campaign.progress', status: 'running' },
          { revision: 3, type: 'campaign.completed', status: 'completed' },
        ],
      },
    ],
    placed: [
      { roomId: 'call-1', to: 14152000001, placements: 1, placedAt: noon + 5, endedAt: noon + 2000, endedBy: null },
    ],
    invited: [
      {
        ...{ callId: 'a', to: 14156000001, at: noon + 10, answeredAt: noon + 500, endedAt: noon + 3000 },
        ...{ endedBy: 'local', server: 'server 1' },
      },
    ],
    arrived: [
      {
        ...{ callId: 'c', from: 14159000001, at: noon, answeredAt: noon + 50, endedAt: noon + 3000 },
        ...{ endedBy: 'local', server: 'server 2' },
      },
    ],
    delivered: [
      { eventId: 'event-1', type: 'workflow_run.queued', body: '{"data":{"id":"run_run"}}', at: noon },
      { eventId: 'event-2', type: 'workflow_run.completed', body: '{"data":{"id":"run_run"}}', at: noon + 1 },
      { eventId: 'event-10', type: 'call.started', body: '{"data":{"roomId":"room_call1"}}', at: noon + 1 },
      { eventId: 'event-11', type: 'call.started', body: '{"data":{"roomId":"room_call2"}}', at: noon + 1 },
      { eventId: 'event-3', type: 'call.ended', body: ended('call1'), at: noon + 2 },
      { eventId: 'event-6', type: 'call.ended', body: ended('callin'), at: noon + 3 },
      { eventId: 'event-7', type: 'campaign.completed', body: '{"data":{"id":"cmp_campaign"}}', at: noon + 4 },
      { eventId: 'event-4', type: 'call.ended', body: ended('call2'), at: noon + 3 },
    ],
    asked: [{ key: 'key', person: 7 }],
    faults: [{ name: 'postgres', what: '', server: undefined, from: noon, to: noon + 1000 }],
    calls,
    campaigns: [campaign('campaign'), campaign('batch')],
    contacts: [
      {
        ...{ id: 'contact-1', campaign_id: 'campaign', phone_number: 14152000001, state: 'done' },
        ...{ reason: null, last_outcome: 'answered' },
      },
    ],
    runs: [
      { id: 'run', status: 'completed', revision: 2, steps: [1, 2], nodes: ['look', 'ring'], parent_run_id: null },
    ],
    uploads: [{ id: 'upload', status: 'processed', imported_rows: 5 }],
    documents: [{ id: 'document', status: 'ready' }],
    events: [
      { id: 'event-1', resource_id: 'run', revision: 1, type: 'workflow_run.queued' },
      { id: 'event-2', resource_id: 'run', revision: 2, type: 'workflow_run.completed' },
      { id: 'event-10', resource_id: 'call-1', revision: 1, type: 'call.started' },
      { id: 'event-11', resource_id: 'call-2', revision: 1, type: 'call.started' },
      { id: 'event-3', resource_id: 'call-1', revision: 3, type: 'call.ended' },
      { id: 'event-4', resource_id: 'call-2', revision: 3, type: 'call.ended' },
      { id: 'event-6', resource_id: 'call-in', revision: 1, type: 'call.ended' },
      { id: 'event-7', resource_id: 'campaign', revision: 3, type: 'campaign.completed' },
    ],
    open: [],
    limits: { workspaceCalls: 2, trunkChannels: 1, trunkCallsPerSecond: 1, maxCallMs: 10_000 },
  });

/** A history that breaks each law, and what is said of it. */
const forged: [law: string, forge: (history: History) => void, says: RegExp][] = [
  [
    'each event is delivered',
    (history) => {
      history.delivered = history.delivered.filter(({ eventId }) => eventId !== 'event-10');
      history.events = history.events.filter(({ id }) => id !== 'event-10');
    },
    /the start of call call-1: told under 0 IDs/,
  ],
  [
    'a call ends as it was told',
    ({ calls: [call] }) => {
      call!.outcome = 'busy';
    },
    /event-3: call call-1 was told of as answered, and is busy/,
  ],
  [
    'nobody is dialled twice',
    ({ placed }) => {
      placed[0]!.placements = 2;
    },
    /call-1.*placed 2 times/,
  ],
  [
    'nobody is dialled twice',
    ({ invited }) => void invited.push({ ...invited[0]!, callId: 'b', at: noon + 9000, endedAt: noon + 9001 }),
    /rang 2 times over SIP, for 1 calls/,
  ],
  [
    'nobody is dialled twice',
    (history) => {
      history.calls.push(again(history.calls[1], { id: 'call-3', status: 'cancelled', ended_by: 'error' }));
      history.invited.push({ ...history.invited[0]!, callId: 'b', at: noon + 9000, endedAt: noon + 9001 });
    },
    /rang 2 times over SIP, for 1 calls/,
  ],
  [
    'nobody is on two calls',
    (history) => {
      history.calls.push(again(history.calls[0], { id: 'call-3', campaign_id: 'batch', owner_id: 'contact-3' }));
      history.placed.push({ ...history.placed[0]!, roomId: 'call-3', placedAt: noon + 1999 });
    },
    /\+14152000001: 2 calls at once/,
  ],
  [
    'nothing is placed before',
    ({ placed }) => {
      placed[0]!.to = 14152000002;
    },
    /call-1: \+14152000002 was placed, \+14152000001 is on record/,
  ],
  [
    'nothing is placed before',
    ({ calls: [call] }) => {
      call!.status = 'queued';
    },
    /placed, but queued/,
  ],
  [
    'nothing is placed before',
    ({ calls: [call] }) => {
      call!.dialed_at = later(4000);
    },
    /before its commit/,
  ],
  [
    'nothing is placed before',
    ({ placed }) => {
      placed[0]!.roomId = 'other';
    },
    /there is no such call/,
  ],
  [
    'nothing is placed before',
    ({ invited }) => {
      invited[0]!.to = 1;
    },
    /rang over SIP \(a\), no call/,
  ],
  [
    'no call whose outcome is unknown',
    (history) => {
      history.calls[0]!.outcome = 'unknown';
      history.calls.push(again(history.calls[0], { id: 'call-3', attempt: 2, dialed_at: null }));
    },
    /attempt 1 is unknown, and 2 was made/,
  ],
  [
    'nobody is tried more often',
    (history) => {
      history.calls.push(
        again(history.calls[0], { id: 'call-3', attempt: 2, dialed_at: later(5000), ended_at: later(6000) }),
      );
      history.placed.push({ ...history.placed[0]!, roomId: 'call-3', placedAt: noon + 5000, endedAt: noon + 6000 });
    },
    /dialled 2 times, 1 are allowed/,
  ],
  [
    'nobody is cut off',
    ({ placed }) => {
      placed[0]!.endedBy = 'service';
    },
    /hung up by us/,
  ],
  [
    'nobody is cut off',
    ({ invited }) => {
      invited[0]!.endedBy = 'remote';
    },
    /SIP.*cut off 2500 ms later/,
  ],
  [
    'nobody is cut off',
    ({ arrived: [call] }) => void Object.assign(call!, { endedBy: 'remote' }),
    /who called us.*cut off/,
  ],
  ['a call that arrives', (history) => void history.calls.pop(), /answered, and not kept/],
  ['a call that arrives', (history) => void history.calls.push(history.calls[2]!), /the calls call-in, call-in/],
  ['a call that arrives', ({ calls: all }) => void Object.assign(all[2]!, { outcome: 'unknown' }), /kept as unknown/],
  [
    'nobody is called for what is paused',
    ({ silences: [silence] }) => {
      silence!.from = noon - 100;
    },
    /call-1, \+14152000001: let go 100 ms after its answer, rang 105 ms/,
  ],
  [
    'nobody is called for what is paused',
    ({ silences: [silence], invited: [call] }) => {
      silence!.campaign = 'batch';
      call!.at = noon + 6011;
    },
    /call-2, .* rang 6001 ms after/,
  ],
  [
    'nobody is called outside',
    ({ placed }) => {
      placed[0]!.placedAt += 3 * 3_600_000;
    },
    /the hours are over in UTC/,
  ],
  [
    'nobody is called outside',
    ({ placed, calls: [call] }) => {
      placed[0]!.to = 14158000001;
      call!.to_number = 14158000001;
    },
    /do-not-call list/,
  ],
  [
    'no limit is passed',
    (history) => void history.calls.push(again(history.calls[0], { id: 'call-3', dialed_at: later(1500) })),
    /campaign, as recorded: 2 at once, 1 are allowed/,
  ],
  [
    'no limit is passed',
    (history) => {
      history.calls.push(again(history.calls[0], { id: 'call-3', dialed_at: later(2000), ended_at: later(3000) }));
      history.placed.push({ ...history.placed[0]!, roomId: 'call-3', placedAt: noon + 1999 });
      history.placed[1]!.endedAt = noon + 3000;
    },
    /campaign, at the provider: 2 at once, 1 are allowed/,
  ],
  [
    'no limit is passed',
    (history) => {
      history.calls[0]!.ended_at = later(100);
      history.calls.push(again(history.calls[0], { id: 'call-3', dialed_at: later(900), ended_at: later(950) }));
    },
    /campaign: 2 in a second, 1 are allowed/,
  ],
  [
    'no limit is passed',
    ({ calls }) => {
      Object.assign(calls[1]!, { ended_at: later(100) });
      calls.push(again(calls[1], { id: 'call-3', dialed_at: later(900), ended_at: later(950) }));
    },
    /the trunk: 2 in a second, 1 are allowed/,
  ],
  [
    'no limit is passed',
    ({ invited }) => void invited.push({ ...invited[0]!, callId: 'b', to: 14152000009 }),
    /the trunk, at the carrier: 2 at once, 1 are allowed/,
  ],
  [
    'what was accepted is kept',
    (history) => {
      history.runs = [];
    },
    /run run is gone/,
  ],
  [
    'what was accepted is kept',
    ({ uploads }) => {
      uploads[0]!.imported_rows = 4;
    },
    /4 rows of 5/,
  ],
  [
    'what was accepted is kept',
    ({ campaigns }) => {
      campaigns[1]!.total_contacts = 0;
    },
    /batch: 0 contacts of 1/,
  ],
  [
    'what was accepted is kept',
    (history) => {
      history.promised.push({ kind: 'run', id: 'other', person: 7 });
      history.runs.push({ ...history.runs[0]!, id: 'other', status: 'cancelled' });
    },
    /person 7 has the runs run and other/,
  ],
  [
    'nothing is there that nobody asked for',
    (history) => void history.calls.push(again(history.calls[0], { ...ofNobody, owner_kind: 'intent', id: 'call-3' })),
    /call call-3/,
  ],
  [
    'nothing is there that nobody asked for',
    (history) => void history.campaigns.push(campaign('batch-2')),
    /campaign batch-2/,
  ],
  [
    'nothing is there that nobody asked for',
    (history) => void history.runs.push({ ...history.runs[0]!, id: 'run-2' }),
    /run run-2/,
  ],
  [
    'nothing is there that nobody asked for',
    (history) => void history.uploads.push({ ...history.uploads[0]!, id: 'upload-2' }),
    /upload upload-2/,
  ],
  [
    'nobody is left out',
    ({ contacts }) => void Object.assign(contacts[0]!, { state: 'skipped', reason: 'no_common_hour' }),
    /\+14152000001: left out as no_common_hour/,
  ],
  [
    'nobody is left out',
    (history) => {
      history.calls.shift();
    },
    /\+14152000001: done, and never called/,
  ],
  [
    'nobody is left out',
    (history) => {
      history.placed = [];
    },
    /call-1: answered, and the provider knows nothing of it/,
  ],
  [
    'comes to its end',
    ({ runs }) => {
      runs[0]!.status = 'waiting_call';
    },
    /run run is waiting_call/,
  ],
  [
    'comes to its end',
    ({ documents }) => {
      documents[0]!.status = 'processing';
    },
    /document is processing/,
  ],
  [
    'comes to its end',
    ({ contacts }) => {
      contacts[0]!.state = 'pending';
    },
    /\+14152000001 is pending/,
  ],
  [
    'comes to its end',
    ({ campaigns }) => {
      campaigns[1]!.status = 'running';
    },
    /batch batch is running/,
  ],
  [
    'comes to its end',
    ({ calls: [call] }) => {
      call!.outcome = null;
    },
    /call-1 has no outcome/,
  ],
  ['everything comes to rest', ({ open }) => void open.push('a signal waits'), /a signal waits/],
  [
    'the counts are those',
    ({ campaigns }) => {
      campaigns[0]!.kept['done'] = 2;
    },
    /done is 2, the rows say 1/,
  ],
  [
    'each step of a run',
    ({ runs }) => {
      runs[0]!.steps = [1, 3];
    },
    /the steps 1, 3/,
  ],
  [
    'each step of a run',
    ({ runs }) => {
      runs[0]!.nodes = ['look', 'look'];
    },
    /the nodes look, look/,
  ],
  ['each step of a run', ({ asked }) => void asked.push({ key: 'other', person: 7 }), /under 2 keys/],
  [
    'no answer is wrong',
    ({ wrongAnswers }) => void wrongAnswers.push({ operation: 'createCall', what: '500' }),
    /createCall: 500/,
  ],
  ['each event is delivered', ({ delivered }) => void delivered.shift(), /event-1.*never delivered/],
  ['each event is delivered', ({ delivered }) => void delivered.pop(), /the end of call call-2: told under 0 IDs/],
  [
    'each event is delivered',
    ({ delivered }) => void delivered.push({ ...delivered[4]!, eventId: 'event-5' }),
    /the end of call call-1: told under 2 IDs/,
  ],
  [
    'each event is delivered',
    ({ delivered }) => void delivered.push({ ...delivered[0]!, body: '{"data":{"id":"run_other"}}' }),
    /event-1: came with different bodies/,
  ],
  [
    'each event is delivered',
    ({ delivered }) => void delivered.push({ ...delivered[0]!, eventId: 'event-9' }),
    /event-9.*delivered, and never recorded/,
  ],
  [
    'each event is delivered',
    ({ delivered, events }) => {
      delivered.push({ ...delivered.find(({ eventId }) => eventId === 'event-7')!, eventId: 'event-10' });
      events.push({ id: 'event-10', resource_id: 'campaign', revision: 4, type: 'campaign.completed' });
    },
    /campaign: campaign.completed 2 times/,
  ],
  [
    'delivered in their order',
    ({ delivered }) => void delivered.push(delivered.shift()!),
    /revision 2.*before the one/,
  ],
  [
    'streams go on',
    ({ streams }) => {
      streams[0]!.ended = false;
    },
    /it did not end/,
  ],
  [
    'streams go on',
    ({ streams }) => {
      streams[0]!.seen = [1, 1, 2];
    },
    /1 came after 1/,
  ],
  [
    'streams go on',
    ({ streams }) => {
      streams[0]!.seen = [1];
    },
    /2 is missing/,
  ],
  [
    'streams go on',
    (history) => {
      history.events.push({ id: 'event-1', resource_id: 'run', revision: 3, type: 'workflow_run.running' });
      history.streams[0]!.seen = [1, 2, 4];
    },
    /3 is missing/,
  ],
  [
    'streams go on',
    ({ streams }) => {
      streams[1]!.seen = [1, 2];
    },
    /campaign campaign, seen 1 2: 3 is missing/,
  ],
  [
    'streams tell what is so',
    ({ streams }) => {
      streams[0]!.told[1]!.type = 'workflow_run.failed';
    },
    /run run: workflow_run.failed was told at 2, and workflow_run.completed is recorded/,
  ],
  [
    'streams tell what is so',
    ({ streams }) => {
      streams[1]!.told[1]!.type = 'campaign.paused';
    },
    /campaign.paused was told at 2, and nothing is recorded/,
  ],
  [
    'streams tell what is so',
    ({ streams }) => {
      streams[1]!.told.pop();
    },
    /the last that was told is running, and it is completed/,
  ],
];

/** The same for a history in which commits were lost, after all of that. */
const lost = (): History => ({
  ...right(),
  loss: { by: 'copy', from: noon + 10_000, heldAt: noon + 20_000, confirmedAt: noon + 30_000 },
});
const rings = (at: number, callId: string, to = 14156500001) => ({ ...right().invited[0]!, callId, to, at });

const forgedLosses: [law: string, forge: (history: History) => void, says: RegExp][] = [
  [
    'nobody is rung twice though',
    ({ invited }) => void invited.push(rings(noon + 11_000, 'x'), rings(noon + 12_000, 'y')),
    /\+14156500001 rang 2 times/,
  ],
  [
    'a loss is found out',
    ({ loss }) => {
      loss!.heldAt = undefined;
    },
    /by copy: dialing was not held/,
  ],
  [
    'nobody is called while',
    ({ invited }) => void invited.push(rings(noon + 21_001, 'x')),
    /rang 1001 ms after all servers held/,
  ],
  ['what was accepted is kept', (history) => void history.runs.pop(), /run run is gone/],
  [
    'comes to its end',
    ({ documents }) => {
      documents[0]!.status = 'processing';
    },
    /document is processing/,
  ],
  ['everything comes to rest', ({ open }) => void open.push('a signal waits'), /a signal waits/],
  [
    'the counts are those',
    ({ campaigns }) => {
      campaigns[0]!.kept['done'] = 2;
    },
    /done is 2, the rows say 1/,
  ],
];

test('a history where all is right breaks no law', () => {
  expect(judge(right())).toEqual([]);
  expect(judge(lost())).toEqual([]);
});

test('before a loss, and once it is confirmed, people may be called', () => {
  const history = lost();
  history.invited.push(rings(noon + 11_000, 'x'), rings(noon + 30_001, 'y', 14156500002));
  // One who was called before, for another reason.
  history.invited.push(rings(noon + 11_000, 'z', 14156000001));
  expect(judge(history)).toEqual([]);
});

test.each(forgedLosses)('over a loss, %s …: forged history %#', (law, forge, says) => {
  const history = lost();
  forge(history);
  expect(
    judge(history)
      .find((each) => each.law.includes(law))
      ?.breaches.join('\n'),
  ).toMatch(says);
});

test.each(forged)('%s …: forged history %#', (law, forge, says) => {
  const history = right();
  forge(history);
  const broken = judge(history).find((each) => each.law.includes(law));
  expect(broken?.breaches.join('\n')).toMatch(says);
});

test('each law is broken by a forged history', () => {
  const names = forged.map(([law]) => law);
  expect(laws.filter(({ name }) => !names.some((each) => name.includes(each)))).toEqual([]);
  const ofLosses = forgedLosses.map(([law]) => law);
  expect(lawsOfLoss.filter(({ name }) => !ofLosses.some((each) => name.includes(each)))).toEqual([]);
});

test('a call over SIP whose server was killed, and one that was asked to end, may be cut off', () => {
  const killed = (name: string, server: string | undefined, from: number) => {
    const history = right();
    history.invited[0]!.endedBy = 'remote';
    history.faults = [{ name, what: '', server, from, to: from + 50 }];
    return judge(history).map(({ law }) => law);
  };
  expect(killed('kill', 'server 1', noon + 2900)).toEqual([]);
  expect(killed('packets', undefined, noon + 2900)).toEqual([]);
  // Of another server, and long before or after.
  expect(killed('kill', 'server 2', noon + 2900)).toEqual(['nobody is cut off']);
  expect(killed('kill', 'server 1', noon - 100)).toEqual(['nobody is cut off']);
  expect(killed('stop', 'server 1', noon + 3001)).toEqual(['nobody is cut off']);
  // While PostgreSQL is away nobody is, however long.
  expect(killed('postgres', undefined, noon + 2900)).toEqual(['nobody is cut off']);
  expect(killed('clock', 'server 1', noon + 2900)).toEqual(['nobody is cut off']);
  const asked = right();
  asked.invited[0]!.endedBy = 'remote';
  asked.calls[1]!.end_requested_at = NOON;
  expect(judge(asked)).toEqual([]);
});

test('somebody whose hours are over may wait', () => {
  const history = right();
  history.contacts[0]!.state = 'pending';
  history.campaigns[0]!.status = 'running';
  history.streams.pop();
  const [promise] = history.promised;
  if (promise?.kind === 'campaign') promise.zones.set(14152000001, 'Asia/Tokyo');
  history.calls.shift();
  history.placed = [{ ...history.placed[0]!, roomId: 'call-2', to: 14156000001 }];
  history.invited = [];
  history.calls[0]!.trunk_id = null;
  history.promised = history.promised.filter(({ kind }) => kind !== 'call');
  expect(judge(history)).toEqual([]);
});

test('what was stopped stays as it was, and is no campaign that still runs', () => {
  const history = right();
  const [promise] = history.promised;
  if (promise?.kind === 'campaign') promise.isStopped = true;
  Object.assign(history.contacts[0]!, { state: 'pending' });
  history.streams.pop();
  Object.assign(history.campaigns[0]!, { status: 'stopped', total_contacts: 0 });
  expect(judge(history)).toEqual([]);
  history.campaigns[0]!.status = 'running';
  expect(judge(history).map(({ law }) => law)).toEqual(['what was accepted comes to its end']);
});
