import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../../test/lines/telephony/memory-store.ts';
import { buyFromInventory, findInInventory, searchInventory } from './inventory.ts';

const now = new Date(0);

describe('searchInventory', () => {
  test('answers the same numbers each time, of the country and area', async () => {
    const store = memoryStore();
    const search = { type: 'local' as const, country: 'US', areaCode: '212', limit: 3 };
    const numbers = (await searchInventory(store, search)).map(({ phoneNumber }) => phoneNumber);
    expect(numbers).toEqual(['+12125550200', '+12125550201', '+12125550202']);
    expect((await searchInventory(store, search)).map(({ phoneNumber }) => phoneNumber)).toEqual(numbers);
    expect((await searchInventory(store, { type: 'local', country: 'DE', limit: 1 }))[0]?.phoneNumber).toBe(
      '+49305550200',
    );
  });

  test('leaves bought numbers out and still fills the page', async () => {
    const store = memoryStore();
    await buyFromInventory(store, { phoneNumber: '+12125550201', idempotencyKey: 'a' }, now);
    const found = await searchInventory(store, { type: 'local', country: 'US', areaCode: '212', limit: 3 });
    expect(found.map(({ phoneNumber }) => phoneNumber.slice(-4))).toEqual(['0200', '0202', '0203']);
  });

  test('contains looks at the national number only', async () => {
    const found = await searchInventory(memoryStore(), {
      type: 'local',
      country: 'US',
      areaCode: '212',
      contains: '7788',
      limit: 10,
    });
    expect(found.map(({ phoneNumber }) => phoneNumber)).toEqual(['+12125557788']);
    expect(await searchInventory(memoryStore(), { type: 'local', country: 'GB', contains: '44205', limit: 5 })).toEqual(
      [],
    );
  });

  test('an unknown country has none', async () => {
    expect(await searchInventory(memoryStore(), { type: 'local', country: 'ZZ', limit: 5 })).toEqual([]);
  });
});

describe('buyFromInventory', () => {
  const buy = (store: ReturnType<typeof memoryStore>, phoneNumber: string, idempotencyKey: string) =>
    buyFromInventory(store, { phoneNumber, idempotencyKey }, now);

  test('one key buys once; another finds the number taken', async () => {
    const store = memoryStore();
    const bought = await buy(store, '+12125550200', 'a');
    expect(bought).toMatchObject({ phoneNumber: '+12125550200', currency: 'USD' });
    expect(await buy(store, '+12125550200', 'a')).toEqual(bought);
    await expect(buy(store, '+12125550200', 'b')).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(buy(store, '+12125550201', 'a')).rejects.toMatchObject({ reason: 'invalid' });
  });

  test.each([
    ['+12125550402', 'billing'],
    ['+12125550409', 'unavailable'],
    ['+12125550502', 'temporary'],
    ['12125550200', 'invalid'],
  ])('%s fails for %s and buys nothing', async (phoneNumber, reason) => {
    const store = memoryStore();
    await expect(buy(store, phoneNumber, 'a')).rejects.toMatchObject({ reason });
    expect(await findInInventory(store, 'a')).toBeUndefined();
  });

  test('a lost answer is found by its key', async () => {
    const store = memoryStore();
    await expect(buy(store, '+12125550504', 'a')).rejects.toMatchObject({ reason: 'temporary' });
    expect(await findInInventory(store, 'a')).toMatchObject({ phoneNumber: '+12125550504' });
  });
});
