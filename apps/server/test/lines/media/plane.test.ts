import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { MediaLostError, NoMediaRoomError } from '@trunkline/media';
import { afterAll, expect, test, vi } from 'vitest';
import { soundFirst } from '../../../src/foundation/values/sound-first.ts';
import { testCallSound } from '../../../src/lines/media/test-sound.ts';
import { until } from '../../until.ts';
import { openTestCall, talking, testPlane } from './plane.ts';
import { sidesOf } from './sides.ts';
import { msOf, tone } from './tone.ts';

const workers = vi.hoisted(() => [] as Worker[]);
/** The next threads whose timers come late, by so many milliseconds. */
const slow = vi.hoisted(() => ({ timersMs: 0, threads: 0 }));
vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof import('node:worker_threads')>();
  class Known extends real.Worker {
    constructor(program: URL, options: WorkerOptions) {
      const late = `const set = setTimeout; globalThis.setTimeout = (run, ms) => set(run, ms + ${slow.timersMs});`;
      const before = ['--import', `data:text/javascript,${encodeURIComponent(late)}`];
      // A thread takes no limit of the heap by its arguments.
      const own = process.execArgv.filter((each) => !/^--(?:max|min|single)-/.test(each));
      const isSlow = slow.threads > 0;
      if (isSlow) slow.threads -= 1;
      super(program, isSlow ? { ...options, execArgv: [...own, ...before] } : options);
      workers.push(this);
    }
  }
  return { ...real, Worker: Known };
});

const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-media-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a call is recorded from its answer: the callee left, the agent right', async () => {
  const plane = testPlane();
  const file = path.join(folder, 'call.wav');
  await using call = await talking(plane, { recordTo: file });
  call.agent.say(tone(1000, 8000));
  await call.peer.speak(tone(400, 8000));
  const stats = await call.media.close();
  expect(stats.recording?.failure).toBeUndefined();
  expect(stats.recording?.ms).toBeGreaterThan(950);
  const wav = readFileSync(file);
  expect(wav.length).toBe(44 + stats.recording!.ms * 32);
  expect(sidesOf(wav).map((side) => [400, 1000].map((hertz) => msOf(hertz, side) > 800))).toEqual([
    [true, false],
    [false, true],
  ]);
});

test('a recording that cannot be written harms no call', async () => {
  await using call = await talking(testPlane(), { recordTo: path.join(folder, 'missing', 'call.wav') });
  await call.peer.speak(tone(400, 1600));
  await until(() => call.agent.sound().length >= 1600);
  const stats = await call.media.close();
  expect(stats.recording?.failure).toContain('ENOENT');
});

test('a thread that is killed has its calls told of; those of another one go on, and a new one is started', async () => {
  const died: (Error | undefined)[] = [];
  workers.length = 0;
  const plane = testPlane({ workers: 2, onThreadDied: (error) => died.push(error) });
  await using first = await openTestCall(plane);
  await using second = await talking(plane);
  await first.media.setStream(first.peer.stream());
  await until(() => first.peer.heard.length > 2 && second.peer.heard.length > 2);
  await workers[0]!.terminate();
  await until(() => first.events.length > 0);
  expect(first.events).toEqual([{ type: 'media_lost' }]);
  await expect(first.media.stats()).rejects.toThrow(MediaLostError);
  await expect(first.media.close()).rejects.toThrow(MediaLostError);
  expect(died).toEqual([undefined]);
  await second.peer.speak(tone(400, 1600));
  await until(() => msOf(400, second.agent.sound()) >= 160);
  expect(second.events.map(({ type }) => type)).toEqual(['first_packet']);
  await until(() => workers.length === 3);
  await using third = await talking(plane);
  await using fourth = await talking(plane);
  await until(() => third.peer.heard.length > 2 && fourth.peer.heard.length > 2);
});

test('a thread that is behind with its calls takes no other until it has caught up, and what can wait waits', async () => {
  Object.assign(slow, { timersMs: 60, threads: 1 });
  const plane = testPlane();
  const first = await openTestCall(plane);
  await first.media.setStream(first.peer.stream());
  await until(async () => {
    const more = await plane.openCall({ owner: 'ours', silenceMs: 1000, onEvent: () => {} }).catch((error) => error);
    if (more instanceof NoMediaRoomError) return true;
    await more.close();
    return false;
  });
  // A machine that stalls keeps the thread from its turns, and from telling that they are late.
  await until(async () => {
    const began = performance.now();
    await soundFirst();
    return performance.now() - began > 900;
  });
  await first.media.close();
  await using next = await openTestCall(plane);
  expect(await next.media.stats()).toMatchObject({ packetsSent: 0 });
  first.peer.close();
  await first.agent.stop();
});

test('a call is opened on the next thread where the first is behind', async () => {
  Object.assign(slow, { timersMs: 60, threads: 1 });
  const plane = testPlane({ workers: 2 });
  await using first = await openTestCall(plane);
  await first.media.setStream(first.peer.stream());
  await using _second = await openTestCall(plane);
  // Two seconds, each without a turn in time, and some more. Then both threads have one call, and the slow one is asked first.
  await sleep(3000);
  await using third = await openTestCall(plane);
  expect(third.media.rtpPort).toBeGreaterThan(0);
});

test('the sound of a test call is played from its begin, and then what is heard is echoed', async () => {
  const plane = testPlane();
  await using call = await openTestCall(plane);
  const { media, peer } = call;
  await media.setStream(peer.stream());
  await media.speak('sound', { path: testCallSound });
  await media.answer();
  const sentence = readFileSync(testCallSound);
  const begin = sentence.subarray(sentence.indexOf('data') + 8).subarray(0, 8000);
  await until(() => peer.sound().includes(begin));
  await expect(media.speak('sound', { path: path.join(folder, 'none.wav') })).rejects.toThrow('ENOENT');
  await until(() => msOf(800, peer.sound()) >= 260);
  await peer.speak(tone(1250, 8000));
  await until(() => msOf(1250, peer.sound()) >= 600);
});
