import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/foundation/database/database.ts';
import { fromId } from '../../src/foundation/values/ids.ts';
import { newKey } from '../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../database.ts';
import { untilCompleted } from '../dialing/dialing.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedNumber } from '../seed/workspace.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';

const DAY_MS = 24 * 3_600_000;
const fromNumber = '+14155550100';
/** Callees of the simulator's. Two of their calls are held up: before `dialing`, and at the provider. */
const [BEFORE_DIALING, AT_PROVIDER, TOMORROW] = [14155553186, 14155554186, 14155555186];
const GATE = 7781;

/** Has two moves wait for as long as somebody holds an advisory lock. */
const gates = `
create function wait_at_gate() returns trigger language plpgsql as
  $$ begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end $$;
create trigger gate before update on calls for each row
  when (new.status = 'dialing' and new.to_number = ${BEFORE_DIALING}) execute function wait_at_gate();
create trigger gate before insert on simulator_calls for each row
  when (new.to_number = '+${AT_PROVIDER}') execute function wait_at_gate();
select pg_advisory_lock(${GATE}), set_config('trunkline.engine', 'on', false);`;

test('a call keeps its room when its server is killed before it, on its way to the provider, or a day before, and rings once', async () => {
  const { connection, drop } = await freshDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-single-'));
  const apiKey = newKey('test');
  const killed = await startServerProcess({
    DATABASE_URL: connection.connectionString,
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: apiKey,
    LEASE_SECONDS: '2',
  });
  const database = openDatabase({ connection, poolSize: 2, log: pino({ level: 'silent' }) });
  const gate = new pg.Client(connection);
  await gate.connect();
  let server: TestServer | undefined;
  try {
    await gate.query(gates);
    const workspace = await database.inEngine(({ db }) =>
      db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
    );
    await seedNumber(database, workspace.id, fromNumber);
    const client = createClient({ baseUrl: killed.url, apiKey, maxRetries: 0 });
    const create = async (toNumber: number, at: { scheduledAt?: string } = {}) => {
      const body = { agentId: 'agent', fromNumber, toNumber: `+${toNumber}`, ...at };
      return (await client.POST('/v1/calls', { body })).data!.roomId;
    };
    const tomorrow = await create(TOMORROW, { scheduledAt: new Date(Date.now() + DAY_MS).toISOString() });
    const now = [await create(BEFORE_DIALING), await create(AT_PROVIDER)];
    const calls = () =>
      database.inEngine(({ db }) =>
        db
          .selectFrom('calls')
          .select(['id', 'status', 'to_number', 'attempt', 'outcome'])
          .orderBy('to_number')
          .orderBy('id')
          .execute(),
      );
    const ended = async () => (await calls()).filter(({ outcome }) => outcome !== null).length;
    const statuses = async () => (await calls()).map(({ status }) => status);
    await until(async () => (await statuses()).join() === 'queued,dialing');
    await killed.kill();
    await gate.query(`select pg_advisory_unlock(${GATE})`);

    const { connectionString } = connection;
    server = await startTestServer({ connectionString, apiKey, config: { simulatorSpeed: 100, leaseSeconds: 2 } });
    // Until then one that was asked to place the call may be on its way to the provider.
    await until(async () => (await ended()) === 1);
    server.clock.advance(10_000);
    await until(async () => (await ended()) === 2);
    const campaign = { contacts: 1, number: () => TOMORROW, phoneNumber: { phone_number: '+14155550111' } };
    const { campaignId } = await seedCampaign(database, { workspaceId: workspace.id, ...campaign });
    await untilCompleted(database, campaignId);
    server.clock.advance(DAY_MS);
    await until(async () => (await ended()) === 4);

    const own = (await calls()).filter(({ id }) => [...now, tomorrow].map(fromId).includes(id));
    expect(own.map((call) => [call.to_number, call.id, call.attempt])).toEqual([
      [BEFORE_DIALING, fromId(now[0]!), 1],
      [AT_PROVIDER, fromId(now[1]!), 2],
      [TOMORROW, fromId(tomorrow), 1],
    ]);
    const { rows } = await gate.query(
      'select room_id, to_number, placements from simulator_calls order by to_number, room_id',
    );
    expect(rows).toEqual(
      (await calls()).map(({ id, to_number }) => ({ room_id: id, to_number: `+${to_number}`, placements: 1 })),
    );
    expect(rows.filter(({ to_number }) => to_number === `+${TOMORROW}`)).toHaveLength(2);
    expect(await database.inEngine(({ db }) => db.selectFrom('call_intents').select('id').execute())).toEqual([]);
  } finally {
    await server?.stop();
    await killed.kill();
    await database.close();
    await gate.end();
    await drop();
    await rm(dataDir, { recursive: true });
  }
});
