import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { postgresCallStore } from '../../../src/lines/telephony/sip/call-store.ts';
import { createWithFile, validated } from '../../audience/contact-lists/contact-files.ts';
import { signIn } from '../../platform/api-keys/sessions.ts';
import { seedUploadedList } from '../../seed/list.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import type { TestServer } from '../../server.ts';
import { unguarded } from '../../unguarded.ts';
import type { FuzzRequest } from './requests.ts';

/** Of each kind there are so many. */
const COUNT = 40;
/** What opens the operator's reads of the fuzzed server. */
export const OPERATOR_KEY = 'operator-key-of-the-fuzzer-0123456789';
const LATER = new Date('2026-12-24T09:00:00.000Z');

/** A column that its file has. */
const CELLS = JSON.stringify({ cells: { phone: '13' } });
const AGENT = { name: 'Changed', connection: { type: 'stream' as const, url: 'wss://agents.example.com/calls' } };

type Own = Partial<
  Record<
    | 'ws'
    | 'room'
    | 'list'
    | 'upl'
    | 'cmp'
    | 'cc'
    | 'bat'
    | 'pn'
    | 'pool'
    | 'wf'
    | 'run'
    | 'agent'
    | 'ses'
    | 'trk'
    | 'dtmf'
    | 'xfr'
    | 'entry',
    readonly string[]
  >
>;

/** What chance would hardly find, by the operations that need it, and the IDs that no other request may name. */
export interface Prepared {
  kept: readonly string[];
  /** Names what there is for the operation in the places of a request. */
  fill(request: FuzzRequest): FuzzRequest;
}

/** Writes it into a workspace: calls of a telephone, campaigns and batches in states that pass, entries, opt-outs. */
export async function prepare(server: TestServer): Promise<Prepared> {
  const { database } = server;
  const { data } = await server.client.GET('/v1/workspace');
  const own = { workspace_id: fromId(data!.data.id) };
  await server.client.PATCH('/v1/workspace', { body: { eventFeed: true } });
  const times = <T>(make: (line: number) => Promise<T>) =>
    Promise.all(Array.from({ length: COUNT }, (_, line) => make(line)));

  const listed = Array.from({ length: COUNT }, (_, line) => ({ phone_number: 12_125_550_110 + line }));
  const list = async () => toId('list', (await seedUploadedList(database, own.workspace_id, listed)).listId);
  const [changed, called, calledToo] = [await list(), await list(), await list()];
  const numbers = listed.map(({ phone_number }) => `+${phone_number}`);
  const optedOut = await times(async (line) => {
    const phone_number = 13_125_550_110 + line;
    await seedRow(database, 'do_not_call', { ...own, phone_number });
    return `+${phone_number}`;
  });

  const campaign = async (given: object) => {
    const row = await seedRow(database, 'campaigns', { ...own, ...given });
    await seedRow(database, 'campaign_lists', { ...own, campaign_id: row.id, list_id: fromId(called) });
    return row;
  };
  const { phoneNumberId, roomId } = await testCall(server);
  const drafts = await times(async () =>
    toId('cmp', (await campaign({ status: 'draft', phone_number_id: fromId(phoneNumberId) })).id),
  );
  const ended = await times(async () => toId('cmp', (await campaign({ status: 'completed' })).id));
  const bought = await times(async () => toId('pn', (await seedRow(database, 'phone_numbers', own)).id));
  const paused = await times(async () => toId('cmp', (await campaign({ status: 'paused' })).id));
  const scheduled = await times(async () =>
    toId('cmp', (await campaign({ status: 'scheduled', scheduled_at: LATER })).id),
  );
  const { id: ofContacts } = await campaign({ status: 'paused', pending: COUNT, total_contacts: COUNT });
  /** Who is called later, so that what waits for them is not over. */
  const waitingContacts = async (campaign_id: string, count: number) => {
    const lane = { ...own, campaign_id, lane: 1, timezones: ['UTC'], opens_at: LATER, closes_at: LATER };
    await database.inEngine(({ db }) => db.insertInto('campaign_lanes').values(lane).execute());
    const contact = { ...own, campaign_id, list_id: fromId(called) };
    const one = (_: unknown, line: number) =>
      seedRow(database, 'campaign_contacts', { ...contact, phone_number: 12_125_550_110 + line });
    return (await Promise.all(Array.from({ length: count }, one))).map(({ id }) => toId('cc', id));
  };
  const contacts = await waitingContacts(ofContacts, COUNT);
  const batch = async (given: object) => {
    const { id } = await campaign({ ...given, kind: 'batch' });
    const row = { ...own, id, rejected: '[]', rejected_count: 0 };
    await database.inEngine(({ db }) => db.insertInto('batches').values(row).execute());
    return toId('bat', id);
  };
  const pausedBatches = await times(() => batch({ status: 'paused' }));
  const scheduledBatches = await times(() => batch({ status: 'scheduled', scheduled_at: LATER }));
  const runningBatches = await times(async () => {
    const id = await batch({ status: 'running', contacts_added: true, pending: 1, total_contacts: 1 });
    await waitingContacts(fromId(id), 1);
    return id;
  });
  const rooms = await times((line) => telephoneCall(server, own.workspace_id, line));
  const { id: server_id } = await database.inEngine(({ db }) =>
    db.selectFrom('servers').select('id').executeTakeFirstOrThrow(),
  );
  const waits = { ...own, server_id, status: 'queued' as const, start_at: LATER, place_before: LATER };
  const waitingCalls = await times(async (line) =>
    toId('room', (await seedRow(database, 'calls', { ...waits, to_number: 14_175_550_100 + line })).id),
  );
  const answeredAt = new Date();
  const upCalls = await times(async (line) => {
    const up = { status: 'in_progress' as const, answered_at: answeredAt, to_number: 14_185_550_100 + line };
    return toId('room', (await seedRow(database, 'calls', { ...own, ...up })).id);
  });
  const dtmf = await times(async () =>
    toId('dtmf', (await seedRow(database, 'call_dtmf', { ...own, room_id: fromId(upCalls[0]!) })).id),
  );
  const realCalls = await times(async (line) => {
    const real = { status: 'in_progress' as const, simulated: false, to_number: 14_195_550_100 + line };
    return toId('room', (await seedRow(database, 'calls', { ...own, ...real, answered_at: answeredAt })).id);
  });
  const transfers = await times(async () =>
    toId('xfr', (await seedRow(database, 'call_transfers', { ...own, room_id: fromId(realCalls[0]!) })).id),
  );
  const pool = async (name: string, phoneNumberIds: string[]) =>
    (await server.client.POST('/v1/number-pools', { body: { name, phoneNumberIds } })).data!.data.id;
  const pools = [await pool('From', [phoneNumberId]), await pool('To', [])];

  const { workflow, runs } = await runsOf(server);
  // Those that chance makes expire, or have a bad file, before they are confirmed.
  const checked = await createWithFile(server, 'phone\n+12125550110\n');
  await validated(server, checked);
  const upload = { list: [checked.id], upl: [checked.uploadID] };
  const waiting = await createWithFile(server, 'phone\n+12125550111\n');
  await validated(server, waiting);

  const withFault = await createWithFile(server, 'phone\n+12125550112\n12\n');
  await validated(server, withFault);
  const mendable = { list: [withFault.id], upl: [withFault.uploadID] };

  const browsers = await times(() => signIn(server, server.apiKey));
  // Or they would be idle for too long when time jumps.
  const lasting = { last_used_at: LATER, expires_at: LATER };
  const sessions = await database.inEngine(({ db }) =>
    db.updateTable('sessions').set(lasting).returning('id').execute(),
  );
  const trunks = await times(async () => toId('trk', await seedTrunk(database, own.workspace_id)));
  const agent = (await server.client.POST('/v1/agents', { body: AGENT })).data!.data.agent.id;
  /** The cookie of a browser, in the place of the key. */
  const asBrowser = (turn: number) => {
    const { cookie, origin } = browsers[turn % COUNT]!;
    return { Cookie: cookie, Host: new URL(origin).host, Origin: origin };
  };

  const byOperation: Record<string, Own> = {
    moveNumberPoolMember: { pool: pools, pn: [phoneNumberId] },
    startTestCall: { pn: [phoneNumberId] },
    getTestCall: { room: [roomId] },
    getCallSip: { room: rooms },
    sendCallDtmf: { room: upCalls },
    transferCall: { room: realCalls },
    getCallTransfer: { room: [realCalls[0]!], xfr: transfers },
    getCallDtmf: { room: [upCalls[0]!], dtmf },
    completeCall: { ws: [toId('ws', own.workspace_id)], room: rooms },
    deleteCallRecording: { room: rooms },
    getCallRecordingPeaks: { room: rooms },
    startWorkflowRun: { wf: [workflow] },
    publishWorkflow: { wf: [workflow] },
    cancelWorkflowRun: { wf: [workflow], run: runs },
    previewContactListUpload: upload,
    listRejectedContactListRows: mendable,
    mendRejectedContactListRow: { ...mendable, entry: ['3'] },
    confirmContactListUpload: upload,
    updateContactListUpload: { list: [waiting.id], upl: [waiting.uploadID] },
    createCampaign: { list: [called, calledToo] },
    startCampaign: { cmp: drafts },
    pauseCampaign: { cmp: drafts },
    updateCampaign: { cmp: paused },
    deleteCampaign: { cmp: ended },
    endCall: { room: waitingCalls },
    updatePhoneNumber: { pn: bought },
    releasePhoneNumber: { pn: bought },
    stopCampaign: { cmp: paused },
    resumeCampaign: { cmp: paused },
    unscheduleCampaign: { cmp: scheduled },
    redialCampaignContacts: { cmp: [toId('cmp', ofContacts)] },
    skipCampaignContact: { cmp: [toId('cmp', ofContacts)], cc: contacts },
    pauseBatch: { bat: runningBatches },
    resumeBatch: { bat: pausedBatches },
    cancelCampaign: { cmp: scheduled },
    cancelBatch: { bat: scheduledBatches },
    getContactListEntry: { list: [called], entry: numbers },
    updateContactListEntry: { list: [changed], entry: numbers },
    removeContactListEntry: { list: [changed], entry: numbers },
    getPerson: { entry: numbers },
    removeDoNotCall: { entry: optedOut },
    updateAgent: { agent: [agent] },
    revokeSession: { ses: sessions.map(({ id }) => toId('ses', id)) },
    deleteTrunk: { trk: trunks },
  };
  let turn = 0;
  return {
    kept: [
      changed,
      called,
      calledToo,
      checked.id,
      checked.uploadID,
      waiting.id,
      waiting.uploadID,
      withFault.id,
      withFault.uploadID,
      phoneNumberId,
      workflow,
      agent,
      ...pools,
    ],
    fill: (request) => {
      const { entry, ...all } = byOperation[request.operationId] ?? {};
      const filled = (text: string) =>
        text.replaceAll(/<([a-z]+):(\d+)>/g, (whole, prefix: keyof typeof all, place: string) => {
          const there = all[prefix];
          return there ? there[(Number(place) + turn) % there.length]! : whole;
        });
      turn += 1;
      const named = entry && request.isValid ? entry[turn % entry.length]! : undefined;
      if (request.operationId === 'createSession' && request.isValid)
        return { ...request, body: JSON.stringify({ apiKey: server.apiKey }) };
      if (request.operationId === 'getOperatorStatus' && request.isValid)
        return { ...request, headers: { ...request.headers, 'X-API-Key': OPERATOR_KEY } };
      if (request.operationId === 'endCurrentSession' && request.isValid)
        return { ...request, headers: { ...request.headers, ...asBrowser(turn) } };
      const body = request.operationId === 'mendRejectedContactListRow' && named ? CELLS : request.body;
      const path = named ? request.path.replace(/[^/?]+(?=\?|$)/, encodeURIComponent(named)) : request.path;
      return { ...request, path: filled(path), ...(body !== undefined && { body: filled(body) }) };
    },
  };
}

/** A published workflow, and runs of it that wait. */
async function runsOf({ client }: TestServer): Promise<{ workflow: string; runs: string[] }> {
  const made = await client.POST('/v1/workflows', {
    body: {
      name: 'Waits',
      startNodeId: 'wait',
      nodes: [
        { id: 'wait', type: 'wait', title: 'Wait', seconds: 31_536_000, next: 'done' },
        { id: 'done', type: 'end', title: 'Done', status: 'completed' },
      ],
    },
  });
  const workflow = made.data!.data.id;
  const path = { workflowId: workflow };
  await client.POST('/v1/workflows/{workflowId}/publish', { params: { path } });
  const start = async (line: number) => {
    const params = { path, header: { 'Idempotency-Key': `waits-${line}` } };
    return (await client.POST('/v1/workflows/{workflowId}/run', { params, body: {} })).data!.data.id;
  };
  return { workflow, runs: await Promise.all(Array.from({ length: COUNT }, (_, line) => start(line))) };
}

/** A test call, and the number that it goes out from. */
async function testCall({ client }: TestServer): Promise<{ phoneNumberId: string; roomId: string }> {
  const bought = await client.POST('/v1/telephony/phone-numbers/buy', {
    body: { phoneNumber: '+14155550203', provider: 'simulator' },
  });
  const { id } = bought.data!;
  const started = await client.POST('/v1/telephony/phone-numbers/{id}/test-call', {
    params: { path: { id } },
    body: { toNumber: '+14155550118' },
  });
  return { phoneNumberId: id, roomId: started.data!.roomId };
}

/** A call of a telephone that is over, with SIP messages and a recording: the simulator has neither. */
async function telephoneCall({ database }: TestServer, workspaceId: string, line: number): Promise<string> {
  const store = postgresCallStore(database, unguarded(database));
  const [at, roomId, serverId] = [new Date(), newUuid(), newUuid()];
  const over = { status: 'completed' as const, outcome: 'answered' as const, dialed_at: at, ended_at: at };
  const call = { workspace_id: workspaceId, id: roomId, simulated: false, to_number: 14_165_550_100 + line };
  await seedRow(database, 'calls', { ...call, ...over, ended_by: 'callee' });
  await store.begin({ roomId, attempt: 1, workspaceId, serverId, at });
  await store.end({ roomId, type: 'ended', at, outcome: 'answered', endedBy: 'callee' });
  const recording = { status: 'stored' as const, size_bytes: 44, duration_ms: 0, created_at: at, stored_at: at };
  await database.inWorkspace(workspaceId, ({ db }) =>
    db
      .insertInto('call_recordings')
      .values({ workspace_id: workspaceId, room_id: roomId, ...recording })
      .execute(),
  );
  return toId('room', roomId);
}
