import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { takeUpDueNumbers } from '../../../src/lines/phone-numbers/tasks.ts';
import type { AccountProvider } from '../../../src/lines/telephony/number-market.ts';
import { until } from '../../until.ts';
import { testAccount } from '../telephony/twilio/double.ts';
import { startTwilioServer, type TwilioServer } from './twilio-server.ts';

/** Holds purchases back until they are let through. Their server is dead by then if it `dies`, and hears no answer. */
let held: { until: Promise<void>; dies: boolean } | undefined;
const holding = (provider: AccountProvider): AccountProvider => ({
  ...provider,
  open: (account) => {
    const market = provider.open(account);
    return {
      ...market,
      buyNumber: async (purchase) => {
        const hold = held;
        await hold?.until;
        const bought = await market.buyNumber(purchase);
        return hold?.dies ? new Promise<never>(() => {}) : bought;
      },
    };
  },
});
function hold({ dies }: { dies: boolean }): () => void {
  let letThrough = () => {};
  const until = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  held = { until, dies };
  return letThrough;
}

let server: TwilioServer;
beforeAll(async () => {
  server = await startTwilioServer(holding, { purchaseWaitMs: 100 });
  await server.save();
});
afterEach(() => {
  held = undefined;
  server.double.fate = () => undefined;
  expect(server.double.faults).toEqual([]);
});
afterAll(() => server.stop());

const RELEASE = 'delete /2010-04-01/Accounts/{AccountSid}/IncomingPhoneNumbers/{Sid}.json';
const pass = async (minutes: number) => {
  server.clock.advance(minutes * 60_000);
  await takeUpDueNumbers(server.deps);
};
const statusOf = async (id: string, client = server.client) =>
  (await client.GET('/v1/telephony/phone-numbers/{id}', { params: { path: { id } } })).data?.status;
const dueOnes = () =>
  server.deps.database.inEngine(async ({ db }) => {
    const { rows } = await sql`
      select from phone_numbers where due_at is not null and status not in ('active', 'suspended')`.execute(db);
    return rows.length;
  });

test('a purchase that comes through after its number was released is given back, once that can be done', async () => {
  const letThrough = hold({ dies: true });
  const { data } = await server.buy('+14155550500');
  expect(data?.status).toBe('provisioning');
  expect((await server.release(data!.id)).response.status).toBe(200);
  await pass(1);
  letThrough();
  await until(() => server.double.numbers.size === 1);
  server.double.fate = (operation) => (operation === RELEASE ? 'broken' : undefined);
  await pass(2);
  expect(server.double.numbers.size).toBe(1);
  server.double.fate = () => undefined;
  await pass(2);
  expect([server.double.numbers.size, await dueOnes()]).toEqual([0, 0]);
});

test('a released number of which nothing shows is looked for during ten minutes', async () => {
  hold({ dies: true });
  const { data } = await server.buy('+14155550510');
  await server.release(data!.id);
  await pass(9);
  expect(await dueOnes()).toBe(1);
  await pass(2);
  expect(await dueOnes()).toBe(0);
});

test('a purchase that comes through after it was given up is given back, once that can be done', async () => {
  const letThrough = hold({ dies: false });
  const { data } = await server.buy('+14155550520');
  await pass(11);
  expect(await statusOf(data!.id)).toBe('failed');
  const asked = server.double.asked.length;
  server.double.fate = (operation) => (operation === RELEASE ? 'broken' : undefined);
  letThrough();
  await until(() => server.double.asked.indexOf(RELEASE, asked) >= 0);
  expect(server.double.numbers.size).toBe(1);
  server.double.fate = () => undefined;
  await pass(2);
  expect([server.double.numbers.size, await dueOnes()]).toEqual([0, 0]);
});

test('a number is given back although another workspace had it once, with the same provider', async () => {
  const neighbour = await server.clientWith(['*'], 'Other');
  await server.save(testAccount, neighbour);
  const body = { phoneNumber: '+14155550530', provider: 'twilio' as const };
  const theirs = (await neighbour.POST('/v1/telephony/phone-numbers/buy', { body })).data!;
  await until(async () => (await statusOf(theirs.id, neighbour)) === 'active');
  server.double.numbers.clear();
  await pass(1);
  expect(await statusOf(theirs.id, neighbour)).toBe('suspended');
  const ours = (await server.buy(body.phoneNumber)).data!;
  await until(async () => (await statusOf(ours.id)) === 'active');
  expect((await server.release(ours.id)).response.status).toBe(200);
  expect(server.double.numbers.size).toBe(0);
});
