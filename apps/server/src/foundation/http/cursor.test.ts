import { expect, test } from 'vitest';
import type { Operation } from './contract.ts';
import { openCursor, sealCursor } from './cursor.ts';

const query = (name: string) => ({ name, in: 'query' as const, schema: {} });
const names = ['cursor', 'page', 'perPage', 'order', 'searchText', 'status'];
const operation = { id: 'listCampaignContacts', parameters: names.map(query) } as unknown as Operation;
const params = { id: 'camp_1' };

/** The cursor of a page for which this was asked. */
function cursorOf(asked: object, place: unknown[] = [2, 9, 'id'], envelope = true): string {
  const page = { items: [], nextCursor: JSON.stringify(place) };
  const parts = { params, query: { ...asked }, headers: {}, body: undefined, values: 0 };
  sealCursor(operation, parts, { status: 200, body: envelope ? { success: true, data: page } : page });
  return page.nextCursor;
}
const open = (given: Record<string, string | string[]>, at = params) => openCursor(operation, at, given);

const asked = { order: 'asc', perPage: 5, page: 3, searchText: 'ä+b', status: ['a', 'b'] };
const held = { order: 'asc', perPage: '5', searchText: 'ä+b', status: ['a', 'b'] };

test.each([true, false])('a cursor alone stands for all that was asked (envelope: %s)', (envelope) => {
  const cursor = cursorOf(asked, [2, 9, 'id'], envelope);
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(open({ cursor })).toEqual({ ...held, cursor: '[2,9,"id"]' });
});

test('what was asked may be said again, and the page size may change', () => {
  const cursor = cursorOf(asked);
  expect(open({ cursor, order: 'asc', status: ['b', 'a'], perPage: '7' })).toMatchObject({ perPage: '7' });
});

test.each([
  ['page', { page: '2' }],
  ['order', { order: 'desc' }],
  ['searchText', { searchText: 'ä' }],
  ['status', { status: 'a' }],
])('another %s beside it is refused', (name, other) => {
  expect(() => open({ cursor: cursorOf(asked), ...other })).toThrow(`query/${name} must be left out`);
});

test('a filter that the first page did not have is refused', () => {
  expect(() => open({ cursor: cursorOf({}), status: 'a' })).toThrow('query/status must be left out');
});

const sealed = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
test.each([
  ['of another list', () => cursorOf({}), { id: 'camp_2' }],
  ['cut short', () => cursorOf({}).slice(0, -8), params],
  ['with letters that base64 passes over', () => `${cursorOf({})}==`, params],
  ['of no JSON', () => 'x', params],
  ['of null', () => sealed(null), params],
  ['without a place', () => sealed(['listCampaignContacts/camp_1', {}]), params],
  ['that asks for what is no text', () => sealed(['listCampaignContacts/camp_1', { status: { a: 1 } }, []]), params],
])('a cursor %s is refused', (_, cursor, at) => {
  expect(() => open({ cursor: cursor() }, at)).toThrow('query/cursor must be the nextCursor of a page of this list');
});

test('no cursor, an empty one and two of them are left to the contract', () => {
  for (const given of [{ page: '2' }, { cursor: '' }, { cursor: ['a', 'b'] }]) expect(open(given)).toBe(given);
});

test('the last page has none', () => {
  const body = { success: true, data: { items: [] } };
  sealCursor(operation, { params, query: {}, headers: {}, body: undefined, values: 0 }, { status: 200, body });
  expect(body).toEqual({ success: true, data: { items: [] } });
});

test('a cursor holds no empty text, which no request may bring', () => {
  const cursor = cursorOf({ searchText: '', order: 'asc' });
  expect(open({ cursor })).toEqual({ order: 'asc', cursor: '[2,9,"id"]' });
});
