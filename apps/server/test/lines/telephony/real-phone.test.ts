import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Baresip, baresip, startBaresip } from '../../../../../packages/sip/test/peers/baresip.ts';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { addresses } from '../../../src/config-values.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { msOf, tone } from '../media/tone.ts';

const GREETING = [1500, 700] as const;
const CALLEE = '+14155550177';
const loopback = addresses('127.0.0.1');

describe.skipIf(!baresip)('a real telephone at a server, which needs baresip', () => {
  let server: TestServer;
  let agent: Agent;
  let sipPort: number;
  let agentId: string;
  beforeAll(async () => {
    // 100 ms of one tone, then another.
    const greeting = Buffer.concat([tone(GREETING[0], 800), tone(GREETING[1], 4000)]);
    agent = await startAgent((socket) =>
      socket.on('message', (data) => {
        if (JSON.parse(String(data)).event === 'start') agent.say(greeting);
      }),
    );
    sipPort = await freePort();
    const rtpPortMin = await freePort();
    const ports = { sipPort, rtpPortMin, rtpPortMax: rtpPortMin + 99 };
    const allowed = { sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback };
    server = await startTestServer({ config: { sipHost: '127.0.0.1', ...ports, ...allowed } });
    const connection = { type: 'stream' as const, url: agent.url };
    const made = await server.client.POST('/v1/agents', { body: { name: 'Anna', connection } });
    agentId = made.data!.data.agent.id;
  });
  afterAll(async () => {
    await server?.stop();
    await agent?.stop();
  });

  /** A telephone that is a trunk, and a number over it. */
  async function phoneOf(account: string, phoneNumber: string, more: object = {}): Promise<Baresip> {
    const phone = await startBaresip(account, CALLEE);
    onTestFinished(() => phone.stop());
    const body = { terminationUrl: `127.0.0.1:${phone.port}`, callsPerSecond: 50, ...more };
    const trunkId = (await server.client.POST('/v1/telephony/trunks', { body })).data!.id;
    const numbers = { phoneNumbers: [phoneNumber], trunkId, inboundAgentId: agentId };
    const imported = await server.client.POST('/v1/telephony/phone-numbers/import/manual', { body: numbers });
    expect(imported.data!.rejected).toEqual([]);
    return phone;
  }

  async function call(fromNumber: string) {
    const recipients = [{ phoneNumber: CALLEE }];
    const { data } = await server.client.POST('/v1/calls/batch', { body: { agentId, fromNumber, recipients } });
    const query = { batchId: data!.batchId };
    return async () => (await server.client.GET('/v1/calls', { params: { query } })).data!.items[0]!;
  }

  test('a call out: it hears a greeting from its begin, speaks, presses 11, and hangs up, by PCMA', async () => {
    const phone = await phoneOf('audio_codecs=pcma', '+14155550101');
    const read = await call('+14155550101');
    await until(() => msOf(GREETING[1], agent.sound()) >= 400);
    // What it says is what it has heard.
    expect(msOf(GREETING[0], agent.sound())).toBeGreaterThanOrEqual(80);
    phone.press('1');
    await until(() => agent.digits() === '1');
    phone.press('1');
    await until(() => agent.digits() === '11');
    phone.hangUp();
    await until(async () => (await read()).endedAt !== undefined);
    expect(await read()).toMatchObject({ outcome: 'answered', endedBy: 'callee', codec: 'PCMA', packetsLost: 0 });
  });

  test('a call in: it is answered, and the agent hangs up', async () => {
    const starts = agent.of('start').length;
    const phone = await phoneOf('audio_codecs=pcmu', '+14155550102');
    const arrived = async () => {
      const { data } = await server.client.GET('/v1/calls');
      return data!.items.find(({ direction }) => direction === 'inbound');
    };
    await until(async () => {
      // Until the server has learned whose address this is, nothing comes back.
      phone.dial(`sip:+14155550102@127.0.0.1:${sipPort}`);
      await until(async () => expect(await arrived()).toBeDefined(), 5);
    });
    await until(() => agent.of('start').length > starts);
    agent.connections.at(-1)!.close(1000);
    await until(async () => expect(await arrived()).toMatchObject({ outcome: 'answered', endedBy: 'agent' }));
    expect(await arrived()).toMatchObject({ codec: 'PCMU', fromNumber: CALLEE, toNumber: '+14155550102' });
    await until(() => expect(phone.output()).toMatch(/terminated|closed/));
  });

  test.each([
    ['preferred', 'srtp', '+14155550103'],
    ['required', 'srtp-mand', '+14155550104'],
  ] as const)(
    '%s: a call out to one that speaks %s is encrypted both ways',
    async (mediaEncryption, mediaenc, number) => {
      const before = msOf(GREETING[1], agent.sound());
      const phone = await phoneOf(`audio_codecs=pcmu;mediaenc=${mediaenc}`, number, {
        mediaEncryption,
        keysInClear: true,
      });
      const read = await call(number);
      // What it says is what it has heard.
      await until(() => msOf(GREETING[1], agent.sound()) >= before + 300);
      phone.hangUp();
      await until(async () => (await read()).endedAt !== undefined);
      const found = {
        outcome: 'answered',
        endedBy: 'callee',
        encryptedWith: 'AES_CM_128_HMAC_SHA1_80',
        packetsLost: 0,
      };
      expect(await read()).toMatchObject(found);
      expect(await read()).not.toHaveProperty('packetsUndeciphered');
    },
  );

  test('one that speaks only encrypted is refused by a trunk without, and one that speaks plain by one that requires it', async () => {
    await phoneOf('audio_codecs=pcmu;mediaenc=srtp-mand', '+14155550105');
    await phoneOf('audio_codecs=pcmu', '+14155550106', { mediaEncryption: 'required', keysInClear: true });
    for (const number of ['+14155550105', '+14155550106']) {
      const read = await call(number);
      await until(async () => (await read()).endedAt !== undefined);
      expect(await read()).toMatchObject({ outcome: 'trunk_error' });
    }
  });

  test('a call in of one that speaks only encrypted is encrypted both ways', async () => {
    const more = { mediaEncryption: 'required', keysInClear: true };
    const account = 'audio_codecs=pcmu;mediaenc=srtp-mand';
    await phoneOf(account, '+14155550107', more);
    const arrived = async () => {
      const { data } = await server.client.GET('/v1/calls');
      return data!.items.find(({ toNumber }) => toNumber === '+14155550107');
    };
    const before = msOf(GREETING[1], agent.sound());
    await until(async () => {
      // Until the server has learned of the number it refuses the call.
      const caller = await startBaresip(account, CALLEE);
      onTestFinished(() => caller.stop());
      caller.dial(`sip:+14155550107@127.0.0.1:${sipPort}`);
      await until(() => expect(caller.output()).toMatch(/Call established|session closed/), 5);
      expect(caller.output()).toContain('Call established');
    });
    await until(() => {
      // Its own sound begins a moment after the call is answered.
      agent.say(tone(GREETING[1], 800));
      return msOf(GREETING[1], agent.sound()) >= before + 300;
    });
    agent.connections.at(-1)!.close(1000);
    await until(async () => expect(await arrived()).toMatchObject({ outcome: 'answered', endedBy: 'agent' }));
    expect(await arrived()).toMatchObject({ encryptedWith: 'AES_CM_128_HMAC_SHA1_80' });
  });
});
