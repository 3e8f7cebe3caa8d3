import { sql } from 'kysely';
import { expect } from 'vitest';
import { takeUpDueNumbers } from '../../../src/lines/phone-numbers/tasks.ts';
import type { AccountProvider } from '../../../src/lines/telephony/number-market.ts';
import { chance, type Fate } from '../telephony/twilio/double.ts';
import { startTwilioServer } from './twilio-server.ts';

const LOST = 0.3;
const DIES = 0.1;
const fates: Fate[] = ['drop', 'lose', 'late', 'busy', 'broken', 'brokenAfter'];

/** Servers that die, each as often: before a purchase is sent, and once it is answered. Nothing goes on after it. */
const dying =
  (name: string) =>
  (provider: AccountProvider): AccountProvider => ({
    ...provider,
    open: (account) => {
      const market = provider.open(account);
      const died = () => new Promise<never>(() => {});
      return {
        ...market,
        buyNumber: async (purchase) => {
          const fate = chance(`${name} dies ${purchase.phoneNumber}`);
          if (fate < DIES) return died();
          const bought = await market.buyNumber(purchase);
          return fate < 2 * DIES ? died() : bought;
        },
      };
    },
  });

/**
 * Buys numbers of a provider that loses 30 % of all answers, on servers of which every fifth dies over its purchase, and
 * releases every third of them. When all is settled, each number was bought once at most, the provider holds those that
 * are active here and no other, and as many are counted as were bought.
 */
export async function expectPurchasesToBeAccountedFor(count: number, seed: string): Promise<void> {
  const server = await startTwilioServer(dying(seed), { purchaseWaitMs: 100 });
  const { double, deps, clock } = server;
  try {
    await server.save();
    await server.client.PATCH('/v1/workspace', { body: { limits: { maxNumbersPerDay: null } } });
    let turn = 0;
    double.fate = (operation) => {
      const drawn = chance(`${seed} ${operation} ${turn++}`);
      return drawn < LOST ? fates[Math.floor((drawn / LOST) * fates.length)] : undefined;
    };
    const numbers = Array.from({ length: count }, (_, i) => `+1415${String(5_551_000 + i * 7).slice(0, 7)}`);
    const answered = new Map<string, string>();
    for (let from = 0; from < count; from += 10) {
      const some = numbers.slice(from, from + 10);
      const answers = await Promise.all(some.map((each) => server.buy(each, `key ${each}`)));
      for (const [i, { response, data }] of answers.entries()) {
        expect([201, 502]).toContain(response.status);
        if (data) answered.set(some[i]!, data.id);
      }
    }
    await double.settled();
    await settleAll(server);

    const rows = await numbersOf(server);
    expect(rows.filter(({ status }) => status !== 'active' && status !== 'failed')).toEqual([]);
    expect(double.sold).toHaveLength(new Set(double.sold).size);
    const held = () => [...double.numbers.values()].map(({ phone_number }) => phone_number).toSorted();
    const active = rows.filter(({ status }) => status === 'active').map((row) => row.phone_number);
    expect(active.toSorted()).toEqual(held());
    expect(active.length).toBeGreaterThan(count / 3);
    expect(rows.length).toBeGreaterThan(active.length);
    for (const number of active) expect(answered.has(number)).toBe(true);
    expect((await server.client.GET('/v1/workspace')).data!.data.usage.numbersBoughtToday).toBe(active.length);

    const released = active.filter((_, i) => i % 3 === 0);
    for (const number of released) {
      let status = 502;
      for (let tries = 0; tries < 30 && status === 502; tries += 1)
        status = (await server.release(answered.get(number)!)).response.status;
      expect(status).toBe(200);
    }
    await settleAll(server);
    expect(held()).toEqual(active.filter((each) => !released.includes(each)).toSorted());
    expect(double.faults).toEqual([]);
  } finally {
    await server.stop();
  }
  /** Minutes pass, and two servers look after what is due. */
  async function settleAll({ deps: ofServer }: typeof server) {
    for (let minute = 0; minute < 60; minute += 1) {
      clock.advance(61_000);
      await Promise.all([takeUpDueNumbers(ofServer), takeUpDueNumbers(ofServer)]);
      const { rows } = await deps.database.inEngine(({ db }) =>
        sql`select from phone_numbers where due_at is not null
          and (status not in ('active', 'suspended') or releasing_from is not null) limit 1`.execute(db),
      );
      if (rows.length === 0) return;
    }
    throw new Error('Purchases are still open after an hour.');
  }
}

async function numbersOf({ deps }: Awaited<ReturnType<typeof startTwilioServer>>) {
  const { rows } = await deps.database.inEngine(({ db }) =>
    sql<{ phone_number: string; status: string }>`
      select phone_number, status from phone_numbers where status <> 'released'`.execute(db),
  );
  return rows;
}
