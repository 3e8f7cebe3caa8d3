import { expect, test } from 'vitest';
import { json, standIn } from './stand-in.ts';

const page = (page: number, ids: string[], totalCount = 5) => ({
  items: ids.map((id) => ({ id })),
  page,
  perPage: 2,
  totalCount,
  column: 'created_at',
  order: 'desc',
});

test('items walks through bare pages to the last', async () => {
  const { client, received } = await standIn(
    json(200, page(1, ['a', 'b'])),
    json(200, page(2, ['c', 'd'])),
    json(200, page(3, ['e'])),
  );
  const seen: string[] = [];
  const query = { perPage: 2, searchText: 'spring sale' };
  for await (const list of client.items('/v1/calls/contact-lists', { params: { query } })) seen.push(list.id);
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(received.map(({ url }) => new URL(url, 'http://x').searchParams.get('page'))).toEqual(['1', '2', '3']);
  expect(received.every(({ url }) => url.includes('searchText=spring%20sale'))).toBe(true);
});

test('pages takes the envelope off, asks for 100 entries and starts where it is told', async () => {
  const { client, received } = await standIn(json(200, { success: true, data: page(3, ['e']) }));
  const seen = [];
  for await (const each of client.pages('/v1/calls/campaigns', { params: { query: { page: 3 } } })) seen.push(each);
  expect(seen).toEqual([page(3, ['e'])]);
  expect(received.map(({ url }) => url)).toEqual(['/v1/calls/campaigns?perPage=100&page=3']);
});

test('an empty listing is one empty page and no item', async () => {
  const { client } = await standIn(json(200, page(1, [], 0)));
  for await (const call of client.items('/v1/calls')) expect.unreachable(call.roomId);
});

test('a loop that breaks asks for no further page', async () => {
  const { client, received } = await standIn(json(200, page(1, ['a', 'b'])));
  for await (const list of client.items('/v1/calls/contact-lists')) if (list.id === 'b') break;
  expect(received).toHaveLength(1);
});

test('a refusal is thrown into the loop', async () => {
  const { client } = await standIn(json(403, { code: 'forbidden', error: 'No.' }));
  await expect(client.items('/v1/calls').next()).rejects.toMatchObject({ code: 'forbidden' });
});
