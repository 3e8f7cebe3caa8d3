import { expect, test } from 'vitest';
import { json, standIn } from './stand-in.ts';

async function entriesOf(listing: AsyncIterable<unknown>) {
  for await (const _ of listing) expect.unreachable();
}

const page = (page: number, ids: string[], totalCount = 5) => ({
  items: ids.map((id) => ({ id })),
  page,
  perPage: 2,
  totalCount,
  column: 'created_at',
  order: 'desc',
});

test('a listing follows the cursor to the page that has none, and says nothing beside it', async () => {
  const { client, received } = await standIn(
    json(200, { ...page(1, ['a', 'b']), nextCursor: 'one' }),
    json(200, { ...page(2, ['c', 'd']), nextCursor: 'two' }),
    json(200, page(3, [])),
  );
  const seen: string[] = [];
  const query = { perPage: 2, searchText: 'spring' };
  for await (const list of client.contactLists.list(query)) seen.push(list.id);
  expect(seen).toEqual(['a', 'b', 'c', 'd']);
  const path = '/v1/calls/contact-lists';
  expect(received.map(({ url }) => url)).toEqual([
    `${path}?perPage=2&searchText=spring`,
    `${path}?cursor=one`,
    `${path}?cursor=two`,
  ]);
});

test('a listing that tells no total ends with the page that has no cursor', async () => {
  const { totalCount: _, ...uncounted } = page(1, ['a', 'b']);
  const { client, received } = await standIn(json(200, uncounted));
  const seen: string[] = [];
  for await (const delivery of client.webhooks.listDeliveries('whk_1')) seen.push(delivery.id);
  expect([seen, received.length]).toEqual([['a', 'b'], 1]);
});

test('a walk goes on from a cursor that was kept', async () => {
  const { client, received } = await standIn(json(200, page(2, ['c'])));
  const query = { cursor: 'kept' };
  for await (const list of client.contactLists.list(query)) expect(list.id).toBe('c');
  expect(received.map(({ url }) => url)).toEqual(['/v1/calls/contact-lists?perPage=100&cursor=kept']);
});

test('a listing walks through the pages of a server that has no cursors', async () => {
  const { client, received } = await standIn(
    json(200, page(1, ['a', 'b'])),
    json(200, page(2, ['c', 'd'])),
    json(200, page(3, ['e'])),
  );
  const seen: string[] = [];
  const query = { perPage: 2, searchText: 'spring sale' };
  for await (const list of client.contactLists.list(query)) seen.push(list.id);
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(received.map(({ url }) => new URL(url, 'http://x').searchParams.get('page'))).toEqual([null, '2', '3']);
  expect(received.every(({ url }) => url.includes('searchText=spring%20sale'))).toBe(true);
});

test('pages have no envelope, are of 100 entries and start where they are told', async () => {
  const { client, received } = await standIn(json(200, { success: true, data: page(3, ['e']) }));
  const seen = [];
  for await (const each of client.campaigns.list({ page: 3 }).pages()) seen.push(each);
  expect(seen).toEqual([page(3, ['e'])]);
  expect(received.map(({ url }) => url)).toEqual(['/v1/calls/campaigns?perPage=100&page=3']);
});

test('an empty listing is one empty page and no item', async () => {
  const { client } = await standIn(json(200, page(1, [], 0)));
  for await (const call of client.calls.list()) expect.unreachable(call.roomId);
});

test('a loop that breaks asks for no further page', async () => {
  const { client, received } = await standIn(json(200, page(1, ['a', 'b'])));
  for await (const list of client.contactLists.list()) if (list.id === 'b') break;
  expect(received).toHaveLength(1);
});

test('a refusal is thrown into the loop', async () => {
  const { client } = await standIn(json(403, { code: 'forbidden', error: 'No.' }));
  await expect(entriesOf(client.calls.list())).rejects.toMatchObject({ code: 'forbidden' });
});

test('a listing that is awaited is its first page', async () => {
  const { client, received } = await standIn(json(200, { ...page(1, ['a', 'b']), nextCursor: 'one' }));
  expect((await client.contactLists.list({ perPage: 2 })).totalCount).toBe(5);
  expect(received).toHaveLength(1);
});
