import { expectTypeOf } from 'vitest';
import { type components, createClient, type ErrorCode, type TrunklineError, unwrap } from '../src/index.ts';

type Schemas = components['schemas'];

const client = createClient({ baseUrl: 'http://localhost:1', apiKey: 'tl_test_x' });
const id = 'cmp_01932f3c8a7e7bd0a1b2c3d4e5f60718';

/** Never run: the type check reads it, and fails where an expected error doesn't come. */
export async function typesHold(error: TrunklineError) {
  const campaign = await unwrap(client.GET('/v1/calls/campaigns/{id}', { params: { path: { id } } }));
  expectTypeOf(campaign.status).toEqualTypeOf<Schemas['CampaignStatus']>();
  const list = await unwrap(client.POST('/v1/calls/contact-lists', { body: { name: 'a', fileName: 'a.csv' } }));
  expectTypeOf(list.uploadUrl).toEqualTypeOf<string>();
  for await (const each of client.items('/v1/calls/campaigns')) expectTypeOf(each.id).toEqualTypeOf<string>();
  for await (const page of client.pages('/v1/calls/contact-lists', { params: { query: { order: 'asc' } } })) {
    expectTypeOf(page.totalCount).toEqualTypeOf<number>();
    expectTypeOf(page.items[0]?.name).toEqualTypeOf<string | undefined>();
  }
  // @ts-expect-error a path that is no listing
  client.items('/v1/workspace');
  // @ts-expect-error a path that needs its parameters
  client.items('/v1/calls/contact-lists/{id}/entries');
  // @ts-expect-error an unknown query parameter's value
  client.items('/v1/calls/campaigns', { params: { query: { status: 'walking' } } });
  // @ts-expect-error a body without what is required
  client.POST('/v1/calls/contact-lists', { body: { name: 'a' } });
  // @ts-expect-error not an operation
  client.GET('/v1/nothing');
  expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
  // @ts-expect-error not a code
  return error.code === 'no_such_code';
}
