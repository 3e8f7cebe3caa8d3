import { expectTypeOf } from 'vitest';
import { type components, createClient, type ErrorCode, type TrunklineError, unwrap, webhooks } from '../src/index.ts';

type Schemas = components['schemas'];

const client = createClient({ baseUrl: 'http://localhost:1', apiKey: 'tl_test_x' });
const id = 'cmp_01932f3c8a7e7bd0a1b2c3d4e5f60718';

/** Never run: the type check reads it, and fails where an expected error doesn't come. */
export async function typesHold(error: TrunklineError) {
  const campaign = await unwrap(client.GET('/v1/calls/campaigns/{id}', { params: { path: { id } } }));
  expectTypeOf(campaign.status).toEqualTypeOf<Schemas['CampaignStatus']>();
  const list = await unwrap(client.POST('/v1/calls/contact-lists', { body: { name: 'a', fileName: 'a.csv' } }));
  expectTypeOf(list.uploadUrl).toEqualTypeOf<string>();
  const started = await client.campaigns.start(id);
  expectTypeOf(started.status).toEqualTypeOf<Schemas['CampaignStatus']>();
  const { data, response } = await client.contactLists.get(id).withResponse();
  expectTypeOf(data.name).toEqualTypeOf<string>();
  expectTypeOf(response).toEqualTypeOf<Response>();
  expectTypeOf(await client.contactLists.get(id).asResponse()).toEqualTypeOf<Response>();
  expectTypeOf(client.withOptions({ timeoutMs: 1 })).toEqualTypeOf<typeof client>();
  for await (const each of client.campaigns.list()) expectTypeOf(each.id).toEqualTypeOf<string>();
  for await (const page of client.contactLists.list({ order: 'asc' }).pages()) {
    expectTypeOf(page.totalCount).toEqualTypeOf<number>();
    expectTypeOf(page.items[0]?.name).toEqualTypeOf<string | undefined>();
  }
  for await (const { data: told } of client.campaigns.streamEvents(id))
    expectTypeOf(told.campaign.status).toEqualTypeOf<Schemas['CampaignStatus']>();
  const event = await webhooks.unwrap('{}', new Headers(), 'whsec_');
  if (event.type === 'call.ended') expectTypeOf(event.data.roomId).toEqualTypeOf<string>();
  // @ts-expect-error a value that the query doesn't take
  client.campaigns.list({ status: 'walking' });
  // @ts-expect-error a parameter that there isn't
  client.campaigns.list({ stat: 'running' });
  // @ts-expect-error an operation that needs the resource's ID
  client.campaigns.start();
  const campaign1 = { name: 'a', agentId: 'b', lists: [] };
  // @ts-expect-error a field that is misspelt
  client.campaigns.create({ ...campaign1, fromNumber: '+14155550200', maxConcurency: 5 });
  // @ts-expect-error two fields that exclude each other
  client.campaigns.create({ ...campaign1, fromNumber: '+14155550200', numberPoolId: 'pool_1' });
  const batch1 = { agentId: 'a', fromNumber: '+14155550200', recipients: [] };
  client.campaigns.update(id, {
    fromNumber: '+14155550200',
    callingWindows: null,
    scheduleStart: 540,
    scheduleEnd: 1080,
  });
  // @ts-expect-error a number beside a pool
  client.campaigns.update(id, { fromNumber: '+14155550200', numberPoolId: 'pool_1' });
  // @ts-expect-error windows beside their short form
  client.campaigns.update(id, { callingWindows: [], scheduleDays: [1] });
  // @ts-expect-error the same of a new campaign
  client.campaigns.create({ ...campaign1, fromNumber: '+14155550200', callingWindows: [], scheduleStart: 540 });
  // @ts-expect-error and of a batch
  client.batches.start({ ...batch1, callingWindows: [], scheduleStart: 540, scheduleEnd: 1080 });
  client.numberPools.update('pool_1', { addPhoneNumberIds: ['pn_1'], removePhoneNumberIds: ['pn_2'] });
  // @ts-expect-error all members beside single ones
  client.numberPools.update('pool_1', { phoneNumberIds: ['pn_1'], addPhoneNumberIds: ['pn_2'] });
  // @ts-expect-error a trunk beside its short form
  client.phoneNumbers.import({ phoneNumbers: [], trunkId: 'trk_1', sipConfig: { terminationUrl: 'ok.sim' } });
  // @ts-expect-error the same of a number that is there
  client.phoneNumbers.update('pn_1', { trunkId: 'trk_1', outboundTermination: 'ok.sim' });
  // @ts-expect-error a misspelt field where others exclude each other
  client.campaigns.update(id, { fromNumer: '+14155550200' });
  // @ts-expect-error a run without the key that names it
  client.workflows.startRun('wf_1', {});
  client.workflows.startRun('wf_1', {}, { idempotencyKey: 'a', concurrencyKey: 'b', cooldownMinutes: 5 });
  // @ts-expect-error a key where the operation takes none
  client.campaigns.start(id, { idempotencyKey: 'a' });
  // @ts-expect-error a body without what is required
  client.POST('/v1/calls/contact-lists', { body: { fileName: 'a' } });
  // @ts-expect-error not an operation
  client.GET('/v1/nothing');
  expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
  // A later version may bring it.
  return error.code === 'no_such_code';
}
