import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf } from '../../src/foundation/http/contract.ts';
import type { OperationId } from '../../src/foundation/http/handler.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { fromId, toId } from '../../src/foundation/values/ids.ts';
import { createWithFile, validated } from '../audience/contact-lists/contact-files.ts';
import { definitionOf, end, wait } from '../dialing/workflows/nodes.ts';
import { TwilioDouble, testAccount } from '../lines/telephony/twilio/double.ts';
import { keyWith } from '../platform/api-keys/keys.ts';
import { seedWorkflow } from '../seed/workflow.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';
import { bases, formOf } from '../voices/knowledge-bases/documents.ts';
import { formWith, sounds } from '../voices/sounds/sounds.ts';
import { toneFile } from '../voices/sounds/wav-files.ts';

/** Operations that are no GET and yet change nothing. */
const reading = new Set<string>(['previewCampaign', 'searchKnowledgeBase', 'createStreamToken', 'startSignIn']);
const changing = operationsOf(forValidator(loadContract()))
  .filter(({ id, method }) => method !== 'GET' && !reading.has(id))
  .map(({ id }) => id);

let server: TestServer;
let walker: TestServer['client'];
let walkerId: string;
let walkerKey: string;
const walked = new Set<OperationId>();
/** What must stand nowhere in the audit log. */
const secrets: string[] = [];

const double = new TwilioDouble();
beforeAll(async () => {
  await double.start();
  // Real time: the calls of the campaign last until they are ended.
  server = await startTestServer({ config: { simulatorSpeed: 1 }, sendToProviders: double.send });
  const key = await keyWith(server, { permissions: ['*'] });
  walkerKey = key;
  secrets.push(key);
  walker = server.clientOf(key);
  const { data } = await server.client.GET('/v1/api-keys', { params: { query: { searchText: 'Test' } } });
  walkerId = data!.data.items[0]!.id;
});
afterAll(async () => {
  await server.stop();
  await double.stop();
});

const entriesOf = async (requestId: string) => {
  const params = { query: { searchText: requestId, perPage: 100 } };
  return (await server.client.GET('/v1/audit-log', { params })).data!.data.items;
};

interface Answered<T> {
  response: Response;
  data?: { data: T } | T | undefined;
  error?: unknown;
}

/** Carries out an operation, and looks for its entry: `resourceOf` says what it has changed. Answers its data. */
async function step<T extends object>(
  id: OperationId,
  action: string,
  request: Promise<Answered<T>>,
  resourceOf: (data: T) => string,
): Promise<T> {
  walked.add(id);
  const from = server.clock.now();
  const { response, data, error } = await request;
  if (!data) throw new Error(`${id}: ${JSON.stringify(error)}`);
  const answer = ('success' in data ? (data as { data: T }).data : data) as T;
  const requestId = response.headers.get('X-Request-Id')!;
  const entries = await entriesOf(requestId);
  expect(entries, id).toEqual([
    {
      id: expect.stringMatching(/^aud_/),
      apiKeyId: walkerId,
      apiKeyName: 'Test',
      action,
      resourceType: action.split('.')[0],
      resourceId: resourceOf(answer),
      address: '127.0.0.1',
      requestId,
      createdAt: expect.any(String),
    },
  ]);
  const at = Date.parse(entries[0]!.createdAt);
  expect(at).toBeGreaterThanOrEqual(from.getTime() - 1000);
  expect(at).toBeLessThanOrEqual(server.clock.now().getTime());
  return answer;
}

const at = (id: string) => ({ params: { path: { id } } });
const idOf = ({ id }: { id: string }) => id;

test('phone numbers', async () => {
  const numbers = '/v1/telephony/phone-numbers';
  const password = 'correct-horse-battery-staple';
  secrets.push(password, 'hunter2hunter2');
  const wanted = { phoneNumber: '+14155550177', provider: 'simulator' } as const;
  await step('buyPhoneNumber', 'phone_number.bought', walker.POST(`${numbers}/buy`, { body: wanted }), idOf);
  const sipConfig = { terminationUrl: 'sip:ok.sim:5061', username: 'u', password };
  const { imported } = await step(
    'importPhoneNumbers',
    'phone_number.imported',
    walker.POST(`${numbers}/import/manual`, { body: { phoneNumbers: ['+14155550178'], sipConfig } }),
    (data) => data.imported[0]!.id,
  );
  const { id } = imported[0]!;
  const change = { label: 'Clinic', sipConfig: { password: 'hunter2hunter2' } };
  const updating = walker.PATCH(`${numbers}/{id}`, { ...at(id), body: change });
  await step('updatePhoneNumber', 'phone_number.updated', updating, idOf);
  await step('releasePhoneNumber', 'phone_number.released', walker.DELETE(`${numbers}/{id}`, at(id)), () => id);
});

test('trunks', async () => {
  const trunks = '/v1/telephony/trunks';
  const on = (trunkId: string) => ({ params: { path: { trunkId } } });
  const body = { terminationUrl: 'walked.ok.sim', username: 'u', password: 'a-trunks-passphrase' };
  secrets.push(body.password);
  const { id } = await step('createTrunk', 'trunk.created', walker.POST(trunks, { body }), idOf);
  const changing = walker.PATCH(`${trunks}/{trunkId}`, { ...on(id), body: { maxChannels: 3 } });
  await step('updateTrunk', 'trunk.updated', changing, idOf);
  await step('pauseTrunk', 'trunk.paused', walker.POST(`${trunks}/{trunkId}/pause`, on(id)), idOf);
  await step('resumeTrunk', 'trunk.resumed', walker.POST(`${trunks}/{trunkId}/resume`, on(id)), idOf);
  await step('deleteTrunk', 'trunk.deleted', walker.DELETE(`${trunks}/{trunkId}`, on(id)), idOf);
});

test('contact lists and the do-not-call list', async () => {
  const lists = '/v1/calls/contact-lists';
  const body = { name: 'Patients', fileName: 'patients.csv' };
  const list = await step('createContactList', 'contact_list.created', walker.POST(lists, { body }), idOf);
  secrets.push(list.uploadUrl!);
  const adding = walker.POST(`${lists}/{id}/uploads`, { ...at(list.id), body: { fileName: 'more.csv' } });
  await step('createContactListUpload', 'upload.created', adding, idOf);
  const renaming = walker.PATCH(`${lists}/{id}`, { ...at(list.id), body: { name: 'People' } });
  await step('updateContactList', 'contact_list.updated', renaming, idOf);
  const entries = [{ phoneNumber: '+14155550188' }];
  const entering = walker.POST(`${lists}/{id}/entries`, { ...at(list.id), body: { entries } });
  await step('addContactListEntries', 'contact_list.entries_added', entering, () => list.id);
  const entry = { params: { path: { id: list.id, phoneNumber: '+14155550188' } } };
  const naming = walker.PATCH(`${lists}/{id}/entries/{phoneNumber}`, { ...entry, body: { name: 'Ana' } });
  await step('updateContactListEntry', 'contact_list.entry_updated', naming, () => list.id);
  const taking = walker.DELETE(`${lists}/{id}/entries/{phoneNumber}`, entry);
  await step('removeContactListEntry', 'contact_list.entry_removed', taking, () => list.id);
  await step('deleteContactList', 'contact_list.deleted', walker.DELETE(`${lists}/{id}`, at(list.id)), () => list.id);
  const ids = await createWithFile(server, 'phone\n+14155550101\n+14155550102\n+14155550103\n+14155550104\n12\n');
  await validated(server, ids);
  const path = { params: { path: ids } };
  const mapping = walker.PATCH(`${lists}/{id}/uploads/{uploadID}`, { ...path, body: { phoneColumns: ['phone'] } });
  await step('updateContactListUpload', 'upload.updated', mapping, () => ids.uploadID);
  await validated(server, ids);
  const mended = walker.PATCH(`${lists}/{id}/uploads/{uploadID}/rejected-rows/{row}`, {
    params: { path: { ...ids, row: '6' } },
    body: { cells: { phone: '+14155550105' } },
  });
  await step('mendRejectedContactListRow', 'upload.updated', mended, () => ids.uploadID);
  const confirming = walker.POST(`${lists}/{id}/uploads/{uploadID}/confirm`, { params: { path: ids } });
  await step('confirmContactListUpload', 'upload.confirmed', confirming, () => ids.uploadID);

  const phoneNumber = '+14155550199';
  const optingOut = walker.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [phoneNumber] } });
  await step('addDoNotCall', 'do_not_call.added', optingOut, () => phoneNumber);
  const removing = walker.DELETE('/v1/calls/do-not-call/{phoneNumber}', { params: { path: { phoneNumber } } });
  await step('removeDoNotCall', 'do_not_call.removed', removing, () => phoneNumber);
});

test('campaigns and calls', async () => {
  const campaigns = '/v1/calls/campaigns';
  const { data } = await server.client.GET('/v1/calls/contact-lists');
  const body = {
    name: 'Reminders',
    agentId: 'agent_reception',
    fromNumber: '+14155550177',
    lists: [{ id: data!.items[0]!.id, role: 'contacts' as const }],
    maxConcurrency: 1,
  };
  const campaign = await step('createCampaign', 'campaign.created', walker.POST(campaigns, { body }), idOf);
  const one = at(campaign.id);
  const renaming = walker.PATCH(`${campaigns}/{id}`, { ...one, body: { name: 'Second reminders' } });
  await step('updateCampaign', 'campaign.updated', renaming, idOf);
  await step('startCampaign', 'campaign.started', walker.POST(`${campaigns}/{id}/start`, one), idOf);
  const roomId = await liveCall(campaign.id);
  await step('pauseCampaign', 'campaign.paused', walker.POST(`${campaigns}/{id}/pause`, one), idOf);
  await step('resumeCampaign', 'campaign.resumed', walker.POST(`${campaigns}/{id}/resume`, one), idOf);
  const room = { params: { path: { roomId } } };
  const telling = walker.POST('/v1/calls/{roomId}/result', { ...room, body: { summary: 'Called back' } });
  await step('recordCallResult', 'call.result_recorded', telling, () => roomId);
  const accountSid = (await walker.GET('/v1/workspace')).data!.data.id;
  const path = { accountSid, callSid: `${roomId}.json` };
  const completing = walker.POST('/2010-04-01/Accounts/{accountSid}/Calls/{callSid}', {
    ...{ params: { path }, body: { Status: 'completed' as const } },
  });
  await step('completeCall', 'call.ended', completing, () => roomId);
  const next = await liveCall(campaign.id);
  const other = { params: { path: { roomId: next } } };
  // Keys, a transfer and a listener need a call that somebody has answered, with sound.
  await server.database.inEngine((tx) =>
    sql`
      update calls set status = 'in_progress', answered_at = ${server.clock.now()}, simulated = false
      where id = ${fromId(next)}`.execute(tx.db),
  );
  const pressing = walker.POST('/v1/calls/{roomId}/dtmf', { ...other, body: { digits: '1' } });
  await step('sendCallDtmf', 'call.dtmf_sent', pressing, () => next);
  const handing = walker.POST('/v1/calls/{roomId}/transfer', { ...other, body: { to: '+14155550198' } });
  await step('transferCall', 'call.transfer_requested', handing, () => next);
  const listening = walker.POST('/v1/calls/{roomId}/listen', other);
  await step('listenToCall', 'call.listened_to', listening, () => next);
  const ending = walker.POST('/v1/calls/{roomId}/end', { params: { path: { roomId: next } } });
  await step('endCall', 'call.ended', ending, () => next);
  await server.database.inEngine((tx) =>
    sql`
      insert into call_recordings (workspace_id, room_id, status, created_at, stored_at)
      select workspace_id, id, 'stored', ${server.clock.now()}, ${server.clock.now()} from calls
      where id = ${fromId(roomId)}`.execute(tx.db),
  );
  const erasing = walker.DELETE('/v1/calls/{roomId}/recording', room);
  await step('deleteCallRecording', 'call.recording_deleted', erasing, () => roomId);
  const contacts = await walker.GET(`${campaigns}/{id}/contacts`, one);
  const contact = { params: { path: { id: campaign.id, contactId: contacts.data!.data.items[0]!.id } } };
  const skipping = walker.POST(`${campaigns}/{id}/contacts/{contactId}/skip`, contact);
  await step('skipCampaignContact', 'campaign.contact_skipped', skipping, () => campaign.id);
  await step('stopCampaign', 'campaign.stopped', walker.POST(`${campaigns}/{id}/stop`, one), idOf);
  await server.database.inEngine((tx) =>
    sql`update campaign_contacts set state = 'done', last_outcome = 'unknown', reason = null
      where campaign_id = ${fromId(campaign.id)}`.execute(tx.db),
  );
  const redialling = walker.POST(`${campaigns}/{id}/contacts/redial`, { ...one, body: { outcomes: ['unknown'] } });
  await step('redialCampaignContacts', 'campaign.redialled', redialling, ({ campaign: draft }) => draft!.id);
  const calling = walker.POST('/v1/calls', {
    body: {
      agentId: 'agent_reception',
      fromNumber: '+14155550177',
      toNumber: '+14155550142',
      scheduledAt: new Date(server.clock.now().getTime() + 24 * 3600 * 1000).toISOString(),
    },
  });
  await step('createCall', 'call.created', calling, (data) => data.roomId);
  const scheduled = { ...body, scheduledAt: '2099-01-01T00:00:00.000Z' };
  const draft = at((await server.client.POST(campaigns, { body: scheduled })).data!.data.id);
  await server.client.POST(`${campaigns}/{id}/start`, draft);
  const unscheduling = walker.POST(`${campaigns}/{id}/unschedule`, draft);
  await step('unscheduleCampaign', 'campaign.unscheduled', unscheduling, idOf);
  await step('cancelCampaign', 'campaign.cancelled', walker.POST(`${campaigns}/{id}/cancel`, draft), idOf);
  await step('deleteCampaign', 'campaign.deleted', walker.DELETE(`${campaigns}/{id}`, draft), idOf);
});

test('batches', async () => {
  const batches = '/v1/calls/batch';
  const body = {
    agentId: 'agent_reception',
    fromNumber: '+14155550177',
    recipients: [{ phoneNumber: '+14155550142' }],
    scheduledAt: '2099-01-01T00:00:00.000Z',
  };
  const starting = walker.POST(batches, { body });
  const { batchId } = await step('startBatch', 'batch.started', starting, (data) => data.batchId);
  const started = (await walker.POST(batches, { body: { ...body, scheduledAt: '2020-01-01T00:00:00.000Z' } })).data!;
  const running = { params: { path: { batchId: started.batchId } } };
  const pausing = walker.POST(`${batches}/{batchId}/pause`, running);
  await step('pauseBatch', 'batch.paused', pausing, () => started.batchId);
  const resuming = walker.POST(`${batches}/{batchId}/resume`, running);
  await step('resumeBatch', 'batch.resumed', resuming, () => started.batchId);
  const cancelling = walker.POST(`${batches}/{batchId}/cancel`, { params: { path: { batchId } } });
  await step('cancelBatch', 'batch.cancelled', cancelling, () => batchId);
  const removing = walker.DELETE(`${batches}/{batchId}`, { params: { path: { batchId } } });
  await step('deleteBatch', 'batch.deleted', removing, () => batchId);
});

/** The room of the campaign's first call, once it is placed. */
async function liveCall(campaignId: string): Promise<string> {
  let call: { roomId: string } | undefined;
  await until(async () => {
    const { data } = await server.client.GET('/v1/calls', { params: { query: { campaignId } } });
    call = data!.items.find(({ status }) => ['dialing', 'ringing', 'in_progress'].includes(status));
    return call !== undefined;
  });
  return call!.roomId;
}

test('test calls', async () => {
  const { data } = await server.client.GET('/v1/telephony/phone-numbers');
  const request = { ...at(data!.items[0]!.id), body: { toNumber: '+14155550143' } };
  const starting = walker.POST('/v1/telephony/phone-numbers/{id}/test-call', request);
  await step('startTestCall', 'call.test_started', starting, (data) => data.roomId);
});

test('number pools', async () => {
  const pools = '/v1/number-pools';
  const { data } = await server.client.GET('/v1/telephony/phone-numbers');
  const phoneNumberId = data!.items[0]!.id;
  const body = { name: 'Clinic', phoneNumberIds: [phoneNumberId] };
  const { id } = await step('createNumberPool', 'number_pool.created', walker.POST(pools, { body }), idOf);
  const renaming = walker.PATCH(`${pools}/{id}`, { ...at(id), body: { name: 'Clinics' } });
  await step('updateNumberPool', 'number_pool.updated', renaming, idOf);
  const leaving = { phoneNumberId, targetPoolId: null };
  const moving = walker.POST(`${pools}/{id}/members/move`, { ...at(id), body: leaving });
  await step('moveNumberPoolMember', 'phone_number.moved', moving, () => phoneNumberId);
  await step('deleteNumberPool', 'number_pool.deleted', walker.DELETE(`${pools}/{id}`, at(id)), idOf);
});

test('workflow runs', async () => {
  const workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
  const definition = definitionOf([wait('later', 3600), end()]);
  const workflowId = toId('wf', await seedWorkflow(server.database, workspaceId, definition));
  const path = { workflowId };
  const start = { params: { path, header: { 'Idempotency-Key': 'one' } }, body: {} };
  const starting = walker.POST('/v1/workflows/{workflowId}/run', start);
  const { id: runId } = await step('startWorkflowRun', 'workflow_run.started', starting, idOf);
  const body = { concurrencyKeys: ['one'] };
  const waking = walker.POST('/v1/workflows/{workflowId}/runs/wake', { params: { path }, body });
  await step('wakeWorkflowRuns', 'workflow.runs_woken', waking, () => workflowId);
  const run = { params: { path: { workflowId, runId } } };
  const cancelling = walker.POST('/v1/workflows/{workflowId}/runs/{runId}/cancel', run);
  await step('cancelWorkflowRun', 'workflow_run.cancelled', cancelling, idOf);
  const header = { 'Idempotency-Key': 'two' };
  const again = await walker.POST('/v1/workflows/{workflowId}/run', { params: { path, header }, body: {} });
  const other = { params: { path: { runId: again.data!.data.id } } };
  const byId = walker.POST('/v1/workflow-runs/{runId}/cancel', other);
  await step('cancelRun', 'workflow_run.cancelled', byId, idOf);
});

test('workflows', async () => {
  const workflows = '/v1/workflows';
  const body = {
    name: 'Nothing',
    startNodeId: 'done',
    nodes: [{ id: 'done', type: 'end' as const, title: 'Done', status: 'completed' as const }],
  };
  const { id } = await step('createWorkflow', 'workflow.created', walker.POST(workflows, { body }), idOf);
  const one = { params: { path: { workflowId: id } } };
  const replacing = walker.PUT(`${workflows}/{workflowId}`, { ...one, body });
  await step('replaceWorkflowDraft', 'workflow.updated', replacing, idOf);
  const publishing = walker.POST(`${workflows}/{workflowId}/publish`, one);
  await step('publishWorkflow', 'workflow.published', publishing, () => id);
  await step('deleteWorkflow', 'workflow.deleted', walker.DELETE(`${workflows}/{workflowId}`, one), idOf);
});

test('knowledge bases', async () => {
  const made = walker.POST(bases, { body: { name: 'Handbook' } });
  const { id: kbId } = await step('createKnowledgeBase', 'knowledge_base.created', made, idOf);
  const one = { params: { path: { kbId } } };
  const renaming = walker.PATCH(`${bases}/{kbId}`, { ...one, body: { name: 'Rules' } });
  await step('updateKnowledgeBase', 'knowledge_base.updated', renaming, idOf);
  const bodySerializer = () => formOf({ 'a.txt': 'Good day.' });
  const adding = walker.POST(`${bases}/{kbId}/documents`, { ...one, body: { files: [] }, bodySerializer });
  const idOfFirst = ({ documents }: { documents: { id: string }[] }) => documents[0]!.id;
  const added = await step('addKnowledgeBaseDocuments', 'document.added', adding, idOfFirst);
  const document = { params: { path: { kbId, docId: idOfFirst(added) } } };
  const removing = walker.DELETE(`${bases}/{kbId}/documents/{docId}`, document);
  await step('deleteKnowledgeBaseDocument', 'document.deleted', removing, idOf);
  await step('deleteKnowledgeBase', 'knowledge_base.deleted', walker.DELETE(`${bases}/{kbId}`, one), idOf);
});

test('sounds', async () => {
  const bodySerializer = () => formWith({ 'a.wav': toneFile({ rate: 8000, kind: 'pcm16', seconds: 0.1 }) });
  const making = walker.POST(sounds, { body: { file: '' }, bodySerializer });
  const { id: soundId } = await step('createSound', 'sound.created', making, idOf);
  const removing = walker.DELETE(`${sounds}/{soundId}`, { params: { path: { soundId } } });
  await step('deleteSound', 'sound.deleted', removing, idOf);
});

test('accounts with providers', async () => {
  secrets.push(testAccount.secret);
  const one = { params: { path: { provider: 'twilio' as const } } };
  const saving = walker.PUT('/v1/telephony/providers/{provider}', { ...one, body: testAccount });
  await step('saveProviderAccount', 'provider.saved', saving, ({ provider }) => provider);
  const removing = walker.DELETE('/v1/telephony/providers/{provider}', one);
  await step('deleteProviderAccount', 'provider.deleted', removing, idOf);
});

test('exports', async () => {
  const making = walker.POST('/v1/exports', { body: { type: 'calls' } });
  const { id: exportId } = await step('createExport', 'export.created', making, idOf);
  const removing = walker.DELETE('/v1/exports/{exportId}', { params: { path: { exportId } } });
  await step('deleteExport', 'export.deleted', removing, idOf);
});

test('erasures', async () => {
  const erasing = walker.POST('/v1/erasures', { body: { phoneNumber: '+14155550999' } });
  await step('createErasure', 'erasure.created', erasing, idOf);
});

test('keys and the workspace', async () => {
  const { id: workspaceId } = (await server.client.GET('/v1/workspace')).data!.data;
  const ofWorkspace = () => workspaceId;
  const making = walker.POST('/v1/api-keys', { body: { name: 'CRM', permissions: ['calls:read'] } });
  const { key, id: keyId } = await step('createApiKey', 'api_key.created', making, idOf);
  secrets.push(key);
  const revoking = walker.DELETE('/v1/api-keys/{keyId}', { params: { path: { keyId } } });
  await step('revokeApiKey', 'api_key.revoked', revoking, idOf);
  const signIn = async () => walker.POST('/v1/sessions', { body: { apiKey: walkerKey } });
  const begun = await signIn();
  const { id: sessionId } = await step('createSession', 'session.created', Promise.resolve(begun), ({ id }) => id!);
  const ending = walker.DELETE('/v1/sessions/{sessionId}', { params: { path: { sessionId: sessionId! } } });
  await step('revokeSession', 'session.ended', ending, idOf);
  const [cookie] = (await signIn()).response.headers.getSetCookie()[0]!.split(';');
  secrets.push(cookie!.split('=')[1]!);
  const own = { 'X-API-Key': null, Cookie: cookie!, Origin: server.url };
  await step('endCurrentSession', 'session.ended', walker.DELETE('/v1/session', { headers: own }), idOf);
  const inviting = walker.POST('/v1/members', { body: { email: 'ada@example.com', role: 'viewer' } });
  const { id: memberId } = await step('createMember', 'member.created', inviting, idOf);
  const one = { params: { path: { memberId } } };
  const promoting = walker.PATCH('/v1/members/{memberId}', { ...one, body: { role: 'admin' } });
  await step('updateMember', 'member.updated', promoting, idOf);
  await step('deleteMember', 'member.deleted', walker.DELETE('/v1/members/{memberId}', one), idOf);
  const renaming = walker.PATCH('/v1/workspace', { body: { name: 'Clinic' } });
  await step('updateWorkspace', 'workspace.updated', renaming, ofWorkspace);
  const pausing = walker.POST('/v1/workspace/pause-dialing');
  await step('pauseDialing', 'workspace.dialing_paused', pausing, ofWorkspace);
  const resuming = walker.POST('/v1/workspace/resume-dialing');
  await step('resumeDialing', 'workspace.dialing_resumed', resuming, ofWorkspace);
  const rotating = walker.POST('/v1/workspace/rotate-inbound-secret');
  const { secret } = await step('rotateInboundSecret', 'workspace.inbound_secret_rotated', rotating, ofWorkspace);
  secrets.push(secret);
});

test('agents', async () => {
  const headers = { Authorization: 'Bearer open-sesame' };
  const connection = { type: 'stream' as const, url: 'wss://agents.invalid/', headers };
  const making = walker.POST('/v1/agents', { body: { name: 'Anna', connection } });
  const { agent, secret } = await step('createAgent', 'agent.created', making, (made) => made.agent.id);
  secrets.push(secret, headers.Authorization);
  const one = { params: { path: { agentId: agent.id } } };
  const renaming = walker.PATCH('/v1/agents/{agentId}', { ...one, body: { name: 'Berta' } });
  await step('updateAgent', 'agent.updated', renaming, idOf);
  const trying = walker.POST('/v1/agents/{agentId}/test', one);
  await step('testAgent', 'agent.tested', trying, () => agent.id);
  const talking = walker.POST('/v1/agents/{agentId}/talk', { ...one, body: {} });
  await step('talkToAgent', 'agent.talked_to', talking, () => agent.id);
  await step('deleteAgent', 'agent.deleted', walker.DELETE('/v1/agents/{agentId}', one), idOf);
});

test('webhooks', async () => {
  const body = { url: 'https://127.0.0.1/hook', eventTypes: ['call.ended' as const] };
  const refused = await walker.POST('/v1/webhooks', { body });
  expect(await entriesOf(refused.response.headers.get('X-Request-Id')!)).toEqual([]);
  const allowed = { ...body, url: 'https://hook.invalid/' };
  const making = walker.POST('/v1/webhooks', { body: allowed });
  const { id: webhookId, secret } = await step('createWebhook', 'webhook.created', making, idOf);
  const one = { params: { path: { webhookId } } };
  const changing = walker.PATCH('/v1/webhooks/{webhookId}', { ...one, body: { description: 'CRM' } });
  await step('updateWebhook', 'webhook.updated', changing, idOf);
  const rotating = walker.POST('/v1/webhooks/{webhookId}/rotate-secret', one);
  const rotated = await step('rotateWebhookSecret', 'webhook.secret_rotated', rotating, idOf);
  secrets.push(secret, rotated.secret);
  const testing = walker.POST('/v1/webhooks/{webhookId}/test', one);
  const { id: deliveryId } = await step('testWebhook', 'webhook.tested', testing, () => webhookId);
  const replaying = walker.POST('/v1/webhooks/{webhookId}/deliveries/{deliveryId}/replay', {
    params: { path: { webhookId, deliveryId } },
  });
  await step('replayWebhookDelivery', 'webhook_delivery.replayed', replaying, () => deliveryId);
  await step('deleteWebhook', 'webhook.deleted', walker.DELETE('/v1/webhooks/{webhookId}', one), idOf);
});

test('no operation that changes something was left out', () => {
  expect(changing.length).toBeGreaterThan(20);
  expect(changing.filter((id) => !walked.has(id))).toEqual([]);
});

test('no secret stands in the log', async () => {
  const rows = await server.database.inEngine((tx) => tx.db.selectFrom('audit_log').selectAll().execute());
  expect(rows.length).toBeGreaterThan(walked.size);
  const all = JSON.stringify(rows);
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
});
