import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Switchboard } from '../../../src/dialing/calls/switchboard.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import type { CallEvent, CallGateway, CallReference } from '../../../src/lines/telephony/call-gateway.ts';
import { byTest } from '../../by-test.ts';
import { freshDatabase } from '../../database.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { startTestSwitchboard } from './test-switchboard.ts';

const log = pino({ level: 'silent' });
let database: Database;
let drop: () => Promise<void>;
let workspaceId: string;
let phoneNumberId: string;
let switchboard: Switchboard;
/** Tells the switchboard what the provider tells. */
let record: (events: CallEvent[]) => void;
/** What the provider answers. */
let provider: CallGateway['endCall'];
let lookup: CallGateway['lookup'];

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  database = openDatabase({ connection: fresh.connection, poolSize: 4, log });
  workspaceId = await seedWorkspace(database);
  phoneNumberId = await seedNumber(database, workspaceId, '+14155550100');
});
afterAll(async () => {
  await database.close();
  await drop();
});
beforeEach(() => {
  lookup = async () => ({ state: 'undetermined', detail: 'not asked' });
  const gateway = { endCall: (call: CallReference) => provider(call), lookup: (call: CallReference) => lookup(call) };
  ({ switchboard, record } = startTestSwitchboard(database, gateway));
});
afterEach(() => switchboard.stop());

let callees = 14155551000;
/** A call that another process has placed. */
async function placedElsewhere(status: 'dialing' | 'in_progress'): Promise<string> {
  const call = { workspace_id: workspaceId, phone_number_id: phoneNumberId, to_number: callees++ };
  return (await seedRow(database, 'calls', { ...call, status, max_call_seconds: 60, dialed_at: new Date() })).id;
}
const end = (roomId: string) => switchboard.endCall(workspaceId, roomId, byTest(roomId));
const ending = (roomId: string) => {
  record([{ roomId, at: new Date(), type: 'ended', outcome: 'answered', endedBy: 'service' }]);
  return 'ending' as const;
};

test('the end of a call that another process has placed is written here', async () => {
  const roomId = await placedElsewhere('in_progress');
  provider = async (call) => {
    expect(call).toMatchObject({ roomId, from: '+14155550100', to: expect.stringMatching(/^\+1415555/) });
    return ending(call.roomId);
  };
  expect(await end(roomId)).toEqual({ roomId: toId('room', roomId), status: 'completed', endedAt: expect.any(String) });
  expect(switchboard.free(workspaceId)).toBe(10);
  await expect(end(roomId)).rejects.toMatchObject({ code: 'call_not_active' });
});

test('a provider that does not have the call yet is asked again, one that has is not', async () => {
  const roomId = await placedElsewhere('dialing');
  let asked = 0;
  provider = async (call) => {
    asked += 1;
    return asked < 3 ? 'absent' : ending(call.roomId);
  };
  expect(await end(roomId)).toMatchObject({ endedAt: expect.any(String) });
  expect(asked).toBe(3);
});

test('a call that goes on for the moment is answered for as it is, and looked up until it has ended', async () => {
  const roomId = await placedElsewhere('in_progress');
  let asked = 0;
  provider = async () => {
    asked += 1;
    return 'ending';
  };
  expect(await end(roomId)).toEqual({ roomId: toId('room', roomId), status: 'in_progress' });
  expect(asked).toBe(1);
  expect(switchboard.free(workspaceId)).toBe(9);
  lookup = async (call) => {
    expect(call.roomId).toBe(roomId);
    return { state: 'ended', outcome: 'answered', endedBy: 'service', endedAt: new Date() };
  };
  await until(async () => switchboard.free(workspaceId) === 10);
  await expect(end(roomId)).rejects.toMatchObject({ code: 'call_not_active' });
});

test('a provider that can not be reached is told, and nothing is held for it', async () => {
  const roomId = await placedElsewhere('in_progress');
  provider = () => Promise.reject(new Error('ECONNREFUSED 10.0.0.1'));
  const refused = await end(roomId).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'unavailable', message: expect.not.stringContaining('10.0.0.1') });
  expect(switchboard.free(workspaceId)).toBe(10);
  provider = async (call) => ending(call.roomId);
  expect(await end(roomId)).toMatchObject({ status: 'completed' });
});

test('of another workspace there is no such call', async () => {
  const roomId = await placedElsewhere('in_progress');
  const other = await seedWorkspace(database);
  await expect(switchboard.endCall(other, roomId, byTest(roomId))).rejects.toMatchObject({ code: 'not_found' });
});
