import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { createNetwork, hasNetworks } from '../telephony/network.ts';
import { startBrokenAgent } from './broken-agents.ts';
import { connection, openTestCall, type TestCall, talking, testPlane } from './plane.ts';
import { msOf, tone } from './tone.ts';

const plane = testPlane();
/** Others have the time of a second. */
const silenceMs = 600;
const silence = Buffer.alloc(160, 0xff);

const ended = async ({ events }: TestCall) => {
  await until(() => events.some(({ type }) => type === 'voice_ended'));
  return events.flatMap((event) => (event.type === 'voice_ended' ? [event.end] : []));
};

test('an agent that sends nothing but silence is mute, though the callee asks again and again', async () => {
  const began = performance.now();
  await using call = await talking(plane, { agent: { silenceMs } });
  const streaming = setInterval(() => call.agent.say(silence), 20);
  const isOver = () => call.events.some(({ type }) => type === 'voice_ended');
  const asking = (async () => {
    while (!isOver()) await call.peer.speak(Buffer.concat([tone(400, 800), silence, silence, silence]));
  })();
  expect(await ended(call)).toEqual([{ reason: 'mute' }]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(silenceMs);
  clearInterval(streaming);
  await asking;
  await until(() => call.agent.of('stop').length === 1);
  const stats = await call.media.close();
  expect(stats).toMatchObject({ voiceEnd: { reason: 'mute' }, calleeSpoke: true, soundLeftOutMs: 0 });
  expect(stats.firstSoundMs).toBeUndefined();
});

test('where both have fallen silent nobody is to blame: what was said is heard to its end before', async () => {
  const began = performance.now();
  await using call = await talking(plane, { agent: { silenceMs } });
  call.agent.say(Buffer.concat([Buffer.alloc(1600, 0xff), tone(700, 8000)]));
  expect(await ended(call)).toEqual([{ reason: 'silence' }]);
  const took = performance.now() - began;
  expect(msOf(700, call.peer.sound())).toBeGreaterThanOrEqual(960);
  const { firstSoundMs, soundLeftOutMs } = await call.media.close();
  // 200 ms, of which a thread that has stalled makes up for 100 at once.
  expect(firstSoundMs).toBeGreaterThanOrEqual(90);
  expect(firstSoundMs).toBeLessThan(took);
  expect(soundLeftOutMs).toBe(0);
});

test('an agent that spoke is waited for since the last words of the callee; a call on hold waits for nobody', async () => {
  await using call = await talking(plane, { agent: { silenceMs } });
  call.agent.say(tone(700, 1600));
  await until(() => msOf(700, call.peer.sound()) >= 180);
  await call.media.setStream(call.peer.stream({ direction: 'recvonly' }));
  const [pings, frames] = [call.agent.pings, call.agent.of('media').length];
  await until(() => call.agent.pings > pings && call.agent.of('media').length > frames + (3 * silenceMs) / 20);
  expect(call.events.filter(({ type }) => type === 'voice_ended')).toEqual([]);
  await call.media.setStream(call.peer.stream());
  await call.peer.speak(tone(400, 1600));
  expect(await ended(call)).toEqual([{ reason: 'mute' }]);
});

/** Its seconds are short, but long enough for a process that is only slow, and for TCP to send again more than once. */
const hasty = testPlane({
  agentBeatMs: 400,
  agentAddresses: { networks: [{ address: '0.0.0.0', prefix: 0 }], hosts: [] },
});

test('an agent that is frozen is let go, what it had said is not heard, nor what it says when it goes on', async () => {
  await using agent = await startBrokenAgent('speaks');
  await using call = await openTestCall(hasty);
  await call.media.setStream(call.peer.stream());
  await call.media.speak('agent', connection(agent.url));
  await call.media.answer();
  await until(() => msOf(700, call.peer.sound()) > 100);
  agent.process.kill('SIGSTOP');
  const [end] = await ended(call);
  expect(end).toEqual({ reason: 'frozen', text: expect.stringContaining('its side took what was sent') });
  const heardMs = msOf(700, call.peer.sound());
  agent.process.kill('SIGCONT');
  const heard = call.peer.heard.length;
  await until(() => call.peer.heard.length > heard + 50);
  expect(msOf(700, call.peer.sound()) - heardMs).toBeLessThanOrEqual(40);
  const { soundLeftOutMs } = await call.media.close();
  expect(soundLeftOutMs).toBeGreaterThan(20_000);
});

describe.skipIf(!hasNetworks)('an agent whose cable is cut, which needs networks of its own', () => {
  const network = hasNetworks ? createNetwork(1) : undefined;
  afterAll(() => network?.remove());

  test('has vanished', async () => {
    network!.showWay();
    await using agent = await startBrokenAgent('speaks', { program: network!.behind, host: network!.far[0]! });
    await using call = await openTestCall(hasty);
    await call.media.setStream(call.peer.stream());
    await call.media.speak('agent', connection(agent.url));
    await call.media.answer();
    await until(() => msOf(700, call.peer.sound()) > 100);
    network!.filter('-I', 'FORWARD', '-j', 'DROP');
    const [end] = await ended(call);
    expect(end).toEqual({ reason: 'vanished', text: expect.stringContaining('did not arrive') });
  });
});
