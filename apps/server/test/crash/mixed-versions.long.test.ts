import { setTimeout as sleep } from 'node:timers/promises';
import { ULAW_SILENCE } from '@trunkline/media';
import { expect, test } from 'vitest';
import { chances } from '../chances.ts';
import { sayHello, startAgent } from '../lines/media/agent.ts';
import { type Callee, startCarrier } from '../lines/telephony/carrier.ts';
import { connectNumber } from '../lines/telephony/killed-servers.ts';
import { callOnce, peopleFrom, untilOver, withMixedServers } from './mixed-versions.ts';

const MINUTES = 10;
const PEOPLE = 30;
const FROM = '+14155550100';
const LONGEST_PAUSE_MS = 6000;
const MOST_BATCHES = MINUTES * 20;

const talks: Callee = async (call, answer) => {
  call.ring();
  const phone = await answer();
  const speak = () => phone.send(Buffer.alloc(160, ULAW_SILENCE));
  speak();
  const speaking = setInterval(speak, 1000);
  void call.ended.then(() => clearInterval(speaking));
  setTimeout(() => void call.hangUp(), 3000);
};
const declines: Callee = (call) => {
  call.ring();
  setTimeout(() => call.reject(603), 1500);
};
const isBusy: Callee = (call) => call.reject(486);

const environment = (place: number) => ({
  ...{ SIP_HOST: '127.0.0.1', SIP_PORT: '0', SIP_ALLOWED_ADDRESSES: '127.0.0.1' },
  ...{ OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1' },
  ...{ RTP_PORT_MIN: String(43_000 + place * 200), RTP_PORT_MAX: String(43_199 + place * 200) },
});

test(
  'three servers of two versions are ended and started at random for ten minutes over SIP, and nobody is called twice',
  {
    timeout: (MINUTES + 5) * 60_000,
  },
  () =>
    withMixedServers(environment, async (servers) => {
      const callees = [talks, declines, isBusy, isBusy];
      const people = peopleFrom(0, MOST_BATCHES * PEOPLE);
      const carrier = await startCarrier(Object.fromEntries(people.map((each, at) => [each, callees[at % 4]!])));
      const agent = await startAgent(sayHello);
      try {
        const chance = chances(24);
        await Promise.all([0, 1, 2].map((place) => servers.start(place, 'former')));
        const agentId = await connectNumber(servers.client(), carrier.port, agent.url);
        const batches: string[] = [];
        const end = Date.now() + MINUTES * 60_000;
        let [starts, mixed] = [0, 0];
        while (Date.now() < end && batches.length < MOST_BATCHES) {
          const numbers = people.slice(batches.length * PEOPLE, (batches.length + 1) * PEOPLE);
          batches.push(await callOnce(servers.client(), { agentId, fromNumber: FROM, numbers }));
          const place = Math.floor(chance() * 3);
          await servers.end(place, chance() < 0.5 ? 'stop' : 'kill');
          await servers.start(place, chance() < 0.5 ? 'former' : 'newer');
          starts += 1;
          mixed += Number(new Set([0, 1, 2].map((at) => servers.version(at))).size === 2);
          await sleep(chance() * LONGEST_PAUSE_MS);
        }
        await untilOver(servers, batches, 180);
        const rang = carrier.calls.map(({ user }) => user);
        expect(new Set(rang).size).toBe(rang.length);
        console.log(`${starts} starts, ${mixed} of them beside another version; ${rang.length} calls`);
        expect(mixed).toBeGreaterThan(starts / 3);
        expect(rang.length).toBeGreaterThan((batches.length * PEOPLE) / 2);
      } finally {
        await agent.stop();
        await carrier.stop();
      }
    }),
);
