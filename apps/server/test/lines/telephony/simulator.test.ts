import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { CallEvent } from '../../../src/lines/telephony/call-gateway.ts';
import type { Faults } from '../../../src/lines/telephony/simulator/faults.ts';
import { createSimulator } from '../../../src/lines/telephony/simulator/simulator.ts';
import { postgresStore, type SimulatorStore } from '../../../src/lines/telephony/simulator/store.ts';
import { freshDatabase } from '../../database.ts';
import { unguarded } from '../../unguarded.ts';
import { callConformance, type GatewayUnderTest } from './call-conformance.ts';
import { marketConformance } from './market-conformance.ts';
import { memoryStore } from './memory-store.ts';
import { proberConformance } from './prober-conformance.ts';
import { trunkTo } from './sip-gateways.ts';

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

callConformance('the simulator in memory', () => underTest(memoryStore()));
callConformance('the simulator on PostgreSQL', () =>
  underTest(postgresStore(database, unguarded(database), { serverId: newUuid })),
);

const marketOn = (store: SimulatorStore) => async () => ({
  market: createSimulator({ seed: 's', speed: 1, store }),
  country: 'US',
  losesAnswer: '+12125550504',
});
marketConformance('the simulator in memory', marketOn(memoryStore()));
marketConformance('the simulator on PostgreSQL', () =>
  marketOn(postgresStore(database, unguarded(database), { serverId: newUuid }))(),
);

proberConformance('the simulator', async () => ({
  prober: createSimulator({ seed: 's', speed: 1, store: memoryStore() }),
  there: { ...trunkTo(5060), terminationUrl: 'ok.sim' },
  gone: { ...trunkTo(5060), terminationUrl: 'dead.sim' },
  close: async () => {},
}));

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
    owner: { kind: 'intent', id: newUuid() },
    placedAt: new Date(),
  });

  test('shows in its table that a room was placed twice, by two processes, and dials it once', async () => {
    const store = postgresStore(database, unguarded(database), { serverId: newUuid });
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
    const store = postgresStore(database, unguarded(database), { serverId: newUuid });
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
});
