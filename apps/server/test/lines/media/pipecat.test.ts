import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { findProgram } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Carrier, startCarrier } from '../telephony/carrier.ts';
import { type Agent, startAgent } from './agent.ts';

const python = findProgram('python3');
const FROM = '+14155550100';
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

let carrier: Carrier;
let server: TestServer;
beforeAll(async () => {
  // Presses # once the bot was heard.
  carrier = await startCarrier(() => async (call, answer) => {
    const phone = await answer();
    await until(() => phone.sound().some((each) => each === 0x80));
    await call.info('application/dtmf-relay', 'Signal=#\r\nDuration=160');
  });
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  server = await startTestServer({
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 99 },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
    },
  });
  const trunk = await server.client.POST('/v1/telephony/trunks', {
    body: { terminationUrl: `127.0.0.1:${carrier.port}` },
  });
  await server.client.POST('/v1/telephony/phone-numbers/import/manual', {
    body: { phoneNumbers: [FROM], trunkId: trunk.data!.id },
  });
});
afterAll(async () => {
  await server.stop();
  await carrier.stop();
});

/** Has each connection talk through the bot, which closes with it. */
function startBot(hangsUpBy: string): Promise<Agent> {
  return startAgent((socket: WebSocket) => {
    const bot = spawn(python!, [path.join(import.meta.dirname, 'pipecat/bot.py'), hangsUpBy]);
    socket.on('message', (data) => bot.stdin.writable && bot.stdin.write(`${data}\n`));
    bot.stdin.on('error', () => {});
    createInterface(bot.stdout).on('line', (line) => socket.send(line));
    bot.on('close', () => socket.close(1000));
    socket.on('close', () => bot.kill());
  });
}

/** Calls somebody through a bot, and resolves with the call once it is over. */
async function callThrough(agent: Agent, toNumber: string) {
  const connection = { type: 'stream' as const, url: agent.url };
  const made = await server.client.POST('/v1/agents', { body: { name: 'Pipecat', connection } });
  const agentId = made.data!.data.agent.id;
  const { data } = await server.client.POST('/v1/calls', { body: { agentId, fromNumber: FROM, toNumber } });
  const read = async () =>
    (await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId: data!.roomId } } })).data!;
  await until(async () => (await read()).endedAt !== undefined);
  return read();
}

test.runIf(python)("Pipecat's own serializer is understood, and hangs up by the call's token", async () => {
  const agent = await startBot('server');
  const call = await callThrough(agent, '+14155550111');
  expect(call).toMatchObject({ status: 'completed', outcome: 'answered', endedBy: 'service' });
  await agent.stop();
});

test.runIf(python)('with credentials that nobody knows, its closing connection hangs up', async () => {
  const asked: (string | undefined)[] = [];
  const twilio = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(401).end('{"code":20003}');
  });
  await new Promise<void>((resolve) => twilio.listen(0, '127.0.0.1', resolve));
  const agent = await startBot(`http://127.0.0.1:${(twilio.address() as AddressInfo).port}`);
  const call = await callThrough(agent, '+14155550112');
  expect(call).toMatchObject({ status: 'completed', outcome: 'answered', endedBy: 'agent' });
  expect(asked).toEqual([expect.stringMatching(/^\/2010-04-01\/Accounts\/AC1\/Calls\/room_[0-9a-f]{32}\.json$/)]);
  await agent.stop();
  twilio.close();
});
