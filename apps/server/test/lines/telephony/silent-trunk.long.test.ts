import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { seedList } from '../../seed/list.ts';
import { until } from '../../until.ts';
import { FROM, startCalling } from './calling.ts';

const PEOPLE = 200;
const FIRST = 14_155_560_000;
const CALLS_PER_SECOND = 10;

/** A carrier that answers OPTIONS, and leaves each INVITE without an answer. */
async function startSilent() {
  const socket = createSocket('udp4');
  const invited = new Set<string>();
  socket.on('message', (datagram, from) => {
    const [start, ...lines] = String(datagram).split('\r\n');
    const user = /^INVITE sip:([^@]*)@/.exec(start!)?.[1];
    if (user) invited.add(user);
    if (!start!.startsWith('OPTIONS')) return;
    const kept = lines
      .filter((line) => /^(?:via|from|to|call-id|cseq):/i.test(line))
      .map((line) => (/^to:/i.test(line) ? `${line};tag=x` : line));
    socket.send(`SIP/2.0 200 OK\r\n${kept.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { port: socket.address().port, invited, close: () => socket.close() };
}

test('a trunk that is silent gets no more INVITEs after two seconds, and is paused once three of them are over', async () => {
  const carrier = await startSilent();
  await using calling = await startCalling((call) => call.reject(486));
  const { client, database } = calling.server;
  const [trunk] = (await client.GET('/v1/telephony/trunks')).data!.items;
  const path = { trunkId: trunk!.id };
  const body = { terminationUrl: `127.0.0.1:${carrier.port}`, callsPerSecond: CALLS_PER_SECOND };
  const changed = await client.PATCH('/v1/telephony/trunks/{trunkId}', { params: { path }, body });
  expect(changed.error).toBeUndefined();
  const read = async () => (await client.GET('/v1/telephony/trunks')).data!.items[0]!;
  await until(async () => expect((await read()).status).toBe('active'), 20);
  const workspaceId = fromId((await client.GET('/v1/workspace')).data!.data.id);
  const agentId = await calling.agentAt('ws://127.0.0.1:9');
  // It was heard before: else three calls at most would ring.
  await database.inEngine(({ db }) =>
    db
      .insertInto('agent_health')
      .values({ workspace_id: workspaceId, agent_id: agentId, heard_at: new Date(Date.now() + 3_600_000) })
      .execute(),
  );
  const people = Array.from({ length: PEOPLE }, (_, i) => ({ phone_number: FIRST + i }));
  const lists = [{ id: toId('list', await seedList(database, workspaceId, people)), role: 'contacts' as const }];
  const made = { name: 'People', agentId, fromNumber: FROM, lists, maxConcurrency: 100 };
  const { id } = (await client.POST('/v1/calls/campaigns', { body: made })).data!.data;
  const params = { path: { id }, query: { force: true } };
  expect((await client.POST('/v1/calls/campaigns/{id}/start', { params })).error).toBeUndefined();
  await until(async () => (await read()).reason === 'silent', 90);
  expect(carrier.invited.size).toBeGreaterThan(2);
  expect(carrier.invited.size).toBeLessThanOrEqual(3 * CALLS_PER_SECOND);
  const stats = (await client.GET('/v1/calls/campaigns/{id}/stats', { params: { path: { id } } })).data!.data;
  expect(stats.done).toBeLessThanOrEqual(carrier.invited.size);
  carrier.close();
}, 180_000);
