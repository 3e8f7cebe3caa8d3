import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { HeldCall } from '../../src/calls/call.ts';
import { type EndCallDeps, endCall } from '../../src/calls/end-call.ts';
import { createCallRecorder } from '../../src/calls/record-call-events.ts';
import { campaignCallOwner } from '../../src/campaigns/end-contacts.ts';
import { systemClock } from '../../src/clock.ts';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { toId } from '../../src/ids.ts';
import type { CallEvent, TelephonyGateway } from '../../src/telephony/gateway.ts';
import { byTest } from '../by-test.ts';
import { freshDatabase } from '../database.ts';
import { seedRow } from '../seed/rows.ts';
import { seedNumber, seedWorkspace } from '../seed/workspace.ts';

const log = pino({ level: 'silent' });
let database: Database;
let drop: () => Promise<void>;
let workspaceId: string;
let phoneNumberId: string;
let deps: EndCallDeps;
let record: (events: CallEvent[]) => void;
let watched: string[];
/** What the provider answers. */
let provider: TelephonyGateway['endCall'];

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
  const held = new Map<string, HeldCall>();
  const owner = campaignCallOwner(async () => undefined);
  ({ record } = createCallRecorder({ database, owner, held, clock: systemClock, log, onEnded: () => undefined }));
  watched = [];
  deps = {
    database,
    clock: systemClock,
    owner,
    held,
    gatewayFor: () => ({ endCall: (call) => provider(call) }) as TelephonyGateway,
    watch: (calls) => watched.push(...calls.map(({ roomId }) => roomId)),
  };
});

let callees = 14155551000;
/** A call that another process has placed. */
async function placedElsewhere(status: 'dialing' | 'in_progress'): Promise<string> {
  const call = { workspace_id: workspaceId, phone_number_id: phoneNumberId, to_number: callees++ };
  return (await seedRow(database, 'calls', { ...call, status, max_call_seconds: 60, dialed_at: new Date() })).id;
}
const end = (roomId: string) => endCall(deps, workspaceId, roomId, byTest(roomId));
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
  expect(deps.held.size).toBe(0);
  expect(watched).toEqual([]);
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

test('a call that goes on for the moment is answered for as it is, and looked up until it has ended', {
  retry: 3,
}, async () => {
  const roomId = await placedElsewhere('in_progress');
  let asked = 0;
  provider = async () => {
    asked += 1;
    return 'ending';
  };
  const from = performance.now();
  expect(await end(roomId)).toEqual({ roomId: toId('room', roomId), status: 'in_progress' });
  expect(performance.now() - from).toBeLessThan(4000);
  expect(asked).toBe(1);
  expect(watched).toEqual([roomId]);
  expect([...deps.held.keys()]).toEqual([roomId]);
});

test('a provider that can not be reached is told, and nothing is held for it', async () => {
  const roomId = await placedElsewhere('in_progress');
  provider = () => Promise.reject(new Error('ECONNREFUSED 10.0.0.1'));
  const refused = await end(roomId).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'unavailable', message: expect.not.stringContaining('10.0.0.1') });
  expect(deps.held.size).toBe(0);
  provider = async (call) => ending(call.roomId);
  expect(await end(roomId)).toMatchObject({ status: 'completed' });
});

test('of another workspace there is no such call', async () => {
  const roomId = await placedElsewhere('in_progress');
  const other = await seedWorkspace(database);
  await expect(endCall(deps, other, roomId, byTest(roomId))).rejects.toMatchObject({ code: 'not_found' });
});
