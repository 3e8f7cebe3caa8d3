import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { CallEvent } from '../../../src/lines/telephony/gateway.ts';
import type { Faults } from '../../../src/lines/telephony/simulator/faults.ts';
import { createSimulator } from '../../../src/lines/telephony/simulator/simulator.ts';
import { postgresStore, type SimulatorStore } from '../../../src/lines/telephony/simulator/store.ts';
import { freshDatabase } from '../../database.ts';
import { unguarded } from '../../unguarded.ts';
import { type GatewayUnderTest, gatewayConformance } from './conformance.ts';
import { memoryStore } from './memory-store.ts';

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  database = openDatabase({ connection: fresh.connection, poolSize: 4, log: pino({ level: 'silent' }) });
});

afterAll(async () => {
  await database.close();
  await drop();
});

const number = (suffix: string) => `+1415555${suffix}`;
const callees = {
  answered: number('0101'),
  voicemail: number('0117'),
  busy: number('0186'),
  no_answer: number('0108'),
  declined: number('0103'),
  invalid_number: number('0104'),
  trunk_error: number('0150'),
  agent_error: number('0160'),
};

/** A switch that is used up by the first call that meets it. */
const once = (faults: Faults, name: 'loseAnswer' | 'loseRequest') => {
  faults[name] = () => {
    delete faults[name];
    return true;
  };
};

async function underTest(store: SimulatorStore): Promise<GatewayUnderTest> {
  // Rings for about 30 to 100 ms, so that a test can act while it rings.
  const make = () => createSimulator({ seed: 'conformance', speed: 20, store });
  const gateway = make();
  return {
    gateway,
    startAnother: async () => {
      const another = make();
      await another.start();
      return another;
    },
    callees,
    outlivesProcess: true,
    placesAbsent: true,
    ringsLong: number('0108'),
    talksLong: number('0102'),
    loseNextAnswer: (when) => once(gateway.faults, when === 'after' ? 'loseAnswer' : 'loseRequest'),
    doubleEvents: () => {
      gateway.faults.duplicateEvent = () => true;
    },
    dialled: async (roomId) => (await store.find([roomId])).get(roomId)?.placements ?? 0,
    close: async () => {},
  };
}

gatewayConformance('the simulator in memory', () => underTest(memoryStore()));
gatewayConformance('the simulator on PostgreSQL', () => underTest(postgresStore(database, unguarded(database))));

describe('the simulator on PostgreSQL', () => {
  const call = (to: string) => ({
    workspaceId: newUuid(),
    roomId: newUuid(),
    attempt: 1,
    to,
    from: '+14155550200',
    agentId: 'agent',
    ringTimeoutSeconds: 30,
    maxCallSeconds: 600,
    recording: false,
    placedAt: new Date(),
  });

  test('shows in its table that a room was placed twice, by two processes, and dials it once', async () => {
    const store = postgresStore(database, unguarded(database));
    const heard: CallEvent[] = [];
    const processes = [1, 2].map(() => createSimulator({ seed: 's', speed: Number.POSITIVE_INFINITY, store }));
    for (const one of processes) {
      one.onEvents((events) => heard.push(...events));
      await one.start();
    }
    const placed = call(callees.answered);
    await Promise.all(processes.map((one) => one.placeCall(placed)));
    await expect.poll(() => heard.length).toBe(3);
    const { rows } = await database.inEngine((tx) =>
      sql`select placements from simulator_calls where room_id = ${placed.roomId}`.execute(tx.db),
    );
    expect(rows).toEqual([{ placements: 2 }]);
    await Promise.all(processes.map((one) => one.stop()));
    expect(heard).toHaveLength(3);
  });

  test('writes what arrives together in few statements, and no row at a planned end', async () => {
    const store = postgresStore(database, unguarded(database));
    let inserts = 0;
    const counting: SimulatorStore = {
      ...store,
      insert: (calls, isLate) => {
        inserts += 1;
        return store.insert(calls, isLate);
      },
    };
    const simulator = createSimulator({ seed: 's', speed: Number.POSITIVE_INFINITY, store: counting });
    let ended = 0;
    simulator.onEvents((events) => {
      ended += events.filter(({ type }) => type === 'ended').length;
    });
    await simulator.start();
    const calls = Array.from({ length: 2_000 }, () => call(callees.answered));
    const answers = await Promise.all(calls.map((one) => simulator.placeCall(one)));
    expect(answers.every(({ status }) => status === 'accepted')).toBe(true);
    await expect.poll(() => ended).toBe(2_000);
    expect(inserts).toBe(2);
    const kept = await store.find(calls.map(({ roomId }) => roomId));
    expect(kept.size).toBe(2_000);
    expect([...kept.values()].some((one) => one.ended)).toBe(false);
    await simulator.stop();
  });

  test('two buyers of one number: one has it', async () => {
    const gateway = createSimulator({ seed: 's', speed: 1, store: postgresStore(database, unguarded(database)) });
    const buy = (idempotencyKey: string) => gateway.buyNumber({ phoneNumber: '+12125550300', idempotencyKey });
    const results = await Promise.allSettled([buy('a'), buy('b'), buy('c')]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason.reason);
    expect(refused).toEqual(['unavailable', 'unavailable']);

    const search = { country: 'US', areaCode: '212', contains: '0300', limit: 1 };
    expect(await gateway.searchNumbers(search)).toEqual([]);
    await gateway.releaseNumber({ phoneNumber: '+12125550300' });
    expect(await gateway.searchNumbers(search)).toMatchObject([{ phoneNumber: '+12125550300' }]);
  });

  test('a purchase whose answer is lost is found by its key', async () => {
    const gateway = createSimulator({ seed: 's', speed: 1, store: postgresStore(database, unguarded(database)) });
    const purchase = { phoneNumber: '+12125550504', idempotencyKey: 'lost' };
    await expect(gateway.buyNumber(purchase)).rejects.toMatchObject({ reason: 'temporary' });
    expect(await gateway.lookupNumberPurchase('lost')).toMatchObject({ phoneNumber: '+12125550504' });
    expect(await gateway.lookupNumberPurchase('other')).toBeUndefined();
  });
});
