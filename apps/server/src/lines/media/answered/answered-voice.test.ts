import { FRAME, Playout, pcmToUlaw, type Speech, ULAW_SILENCE } from '@trunkline/media';
import { expect, test } from 'vitest';
import type { StreamEnd } from '../agent-end.ts';
import {
  type AgentSpeech,
  type Answered,
  type AnsweredAsk,
  AnsweredVoice,
  type NewsOfAnswerer,
} from './answered-voice.ts';

const silence = (ms: number): number[] => Array.from({ length: ms * 8 }, () => 0);
const tone = (hz: number, ms: number): number[] =>
  Array.from({ length: ms * 8 }, (_, at) => 6000 * Math.sin((2 * Math.PI * hz * at) / 8000));
const speech = (ms: number): number[] =>
  Array.from({ length: ms * 8 }, (_, at) => {
    const turn = (2 * Math.PI * (120 + 20 * Math.sin(at / 4000)) * at) / 8000;
    return (
      Math.abs(Math.sin((Math.PI * at) / 1600)) *
      [1, 2, 3, 5, 7, 9].reduce((sum, of) => sum + 900 * Math.sin(of * turn), 0)
    );
  });
const ulawOf = (sound: readonly number[]) => Buffer.from(sound.map((sample) => pcmToUlaw(Math.round(sample))));
const MESSAGE = ulawOf(tone(650, 3000));

/** What an agent can do in its call, and what was done to it. */
interface Agent {
  speech: AgentSpeech;
  says(ulaw: Buffer): void;
}

/**
 * A call in which somebody answers so, without a wire: what the callee is played, and what is known of it.
 * @param does what the agent does, by the ms at which it does it
 */
async function callTo(ask: AnsweredAsk, heard: readonly number[], does: Record<number, (agent: Agent) => void> = {}) {
  const known: Answered[] = [];
  const news: NewsOfAnswerer[] = [];
  const hushes: boolean[] = [];
  let ends: unknown;
  let endsAfter: unknown;
  let voice: AnsweredVoice | undefined;
  const playout = new Playout((name) => voice?.mark(name));
  const own: Speech = {
    playout,
    turns: { fellSilent: () => undefined },
    ask: async (what) => {
      const asked = what as { type: string; answered: Answered };
      if (asked.type === 'answered_by') known.push(asked.answered);
      return asked.type === 'sound' ? MESSAGE : undefined;
    },
    end: (end, after) => {
      ends ??= end;
      endsAfter ??= after;
    },
  };
  let isClosed = false;
  let agentSays = (_ulaw: Buffer) => {};
  let agent: AgentSpeech | undefined;
  voice = new AnsweredVoice(ask, own, (speech) => {
    agent = speech;
    agentSays = (ulaw) => void speech.playout.push(ulaw);
    const close = () => {
      isClosed = true;
    };
    const answeredBy = (each: NewsOfAnswerer) => void news.push(each);
    const hushed = (isHushed: boolean) => void hushes.push(isHushed);
    return { hushed, start: () => {}, hear: () => {}, digit: () => {}, mark: () => {}, close, answeredBy };
  });
  voice.start();
  await new Promise((resolve) => setImmediate(resolve));
  const ulaw = ulawOf(heard);
  const played: number[] = [];
  const frame = Buffer.alloc(FRAME);
  for (let at = 0; at + FRAME <= ulaw.length && ends === undefined; at += FRAME) {
    does[at / 8]?.({ speech: agent!, says: agentSays });
    voice.hear(ulaw.subarray(at, at + FRAME));
    playout.next(frame);
    if (frame.some((code) => code !== ULAW_SILENCE && code !== 0x7f)) played.push(at / 8);
  }
  return {
    news,
    hushes,
    played,
    playout,
    ends,
    endsAfter,
    isClosed: () => isClosed,
    agent: agent!,
    agentSays,
    last: () => known.at(-1),
    voice,
  };
}

const leave: AnsweredAsk = { voicemail: 'leave_message', message: { soundId: 'snd_1' } };
const greeting = [...silence(300), ...speech(2000), ...silence(600)];
const left = async (...sounds: number[][]) => callTo(leave, [...greeting, ...sounds.flat(), ...silence(8000)]);

test('the message begins behind the beep, is played to its end, and is told with the beep', async () => {
  const call = await left(tone(1000, 500));
  expect(call.played[0]! - 3400).toBeGreaterThan(0);
  expect(call.played[0]! - 3400).toBeLessThanOrEqual(800);
  expect(call.ends).toEqual({ reason: 'call_ended' });
  expect(call.isClosed()).toBe(true);
  const { message, answeredBy } = call.last()!;
  expect(answeredBy).toBe('machine');
  expect(message).toMatchObject({ complete: true, afterBeep: { hz: expect.closeTo(1000, -1) } });
  expect(message!.untilMs - message!.fromMs).toBeGreaterThanOrEqual(2900);
});

test('it begins again for a second beep, and the part before that does not count', async () => {
  const call = await left(tone(1000, 300), silence(1000), tone(1400, 300));
  const { message } = call.last()!;
  expect(message).toMatchObject({ complete: true, afterBeep: { hz: expect.closeTo(1400, -1) } });
  // It was heard from between the beeps on, until the second one was known.
  expect(call.played[0]).toBeLessThan(4200);
  expect(message!.fromMs - 4500).toBeGreaterThan(0);
  expect(message!.fromMs - 4500).toBeLessThanOrEqual(800);
});

test('a machine that hangs up in the midst leaves it incomplete', async () => {
  const call = await callTo(leave, [...greeting, ...tone(1000, 500), ...silence(1500)]);
  call.voice.close();
  expect(call.last()!.message).toMatchObject({ complete: false });
});

test('a person is neither hung up on nor spoken over', async () => {
  const sound = [...silence(300), ...speech(900), ...silence(4000), ...speech(1500), ...silence(3000)];
  for (const ask of [leave, { voicemail: 'hang_up' } as const]) {
    const call = await callTo(ask, sound);
    expect(call.ends).toBeUndefined();
    expect(call.played).toEqual([]);
    expect(call.news).toMatchObject([{ event: 'answered_by', answeredBy: 'human' }]);
  }
});

test('a long greeting alone makes no machine of anybody', async () => {
  const call = await callTo({ voicemail: 'hang_up' }, [...silence(300), ...speech(6000), ...silence(4000)]);
  expect(call.last()).toMatchObject({ answeredBy: 'unknown', evidence: [{ heard: 'long_greeting' }] });
  expect(call.ends).toBeUndefined();
});

test('hang_up ends it once the beep is known', async () => {
  const says = { 2800: ({ says }: Agent) => says(ulawOf(tone(700, 5000))) };
  const call = await callTo({ voicemail: 'hang_up' }, [...greeting, ...tone(1000, 500)], says);
  expect(call.ends).toEqual({ reason: 'call_ended' });
  // A talking agent does not put it off.
  expect(call.endsAfter).toBe('now');
  call.agentSays(ulawOf(tone(700, 1000)));
  expect(call.playout.queued).toBe(0);
});

test('an agent whose own words are the message is told when, and is not heard before', async () => {
  const call = await callTo({ voicemail: 'leave_message' }, [...greeting, ...tone(1000, 500), ...silence(700)]);
  expect(call.news.map(({ event }) => event)).toEqual(['answered_by', 'answered_by', 'leave_message']);
  expect(call.isClosed()).toBe(false);
  expect(call.hushes).toEqual([true]);
});

test('an agent that was not heard is told once it is again', async () => {
  const sound = [...greeting, ...tone(1000, 500), ...silence(500)];
  const says = { 3200: ({ speech }: Agent) => speech.saysAnswerer?.('human') };
  expect((await callTo({ voicemail: 'leave_message' }, sound, says)).hushes).toEqual([true, false]);
});

test.each<[string, StreamEnd | undefined, number, boolean]>([
  ['has hung up after them', { reason: 'hung_up' }, 400, true],
  ['was not done when the machine hung up', undefined, 400, false],
  ['was lost', { reason: 'vanished' }, 400, false],
  ['had still more to be played', { reason: 'hung_up' }, 9000, false],
])('its own words are complete, or not: the agent %s', async (_, end, ms, complete) => {
  const sound = [...greeting, ...tone(1000, 500), ...silence(3000)];
  const call = await callTo({ voicemail: 'leave_message' }, sound, {
    5000: ({ says }) => says(ulawOf(tone(700, ms))),
    6000: ({ speech }) => end && speech.end(end, 'said'),
  });
  call.voice.hear(ulawOf(silence(20)));
  call.voice.close();
  expect(call.last()!.message).toMatchObject({ complete, afterBeep: { hz: expect.closeTo(1000, -1) } });
});

test('beeps in the midst of a talk make no machine of a person', async () => {
  const talk = [...silence(300), ...speech(2800), ...silence(2500), ...speech(1000), ...silence(1000)];
  const beeps = [tone(1000, 300), silence(700), tone(1000, 300), silence(700), tone(1000, 300), silence(700)].flat();
  const hears = (does?: Record<number, (agent: Agent) => void>) =>
    callTo({ voicemail: 'hang_up' }, [...talk, ...beeps], does);
  const person = await hears({ 4000: ({ says }) => says(ulawOf(tone(700, 1000))) });
  expect(person.ends).toBeUndefined();
  expect(person.last()).toMatchObject({ confidence: 0.5 });
  expect((await hears()).ends).toEqual({ reason: 'call_ended' });
});

test('the last word of an agent counts, late and at once too, and is told by the time of the call', async () => {
  const sound = [...greeting, ...silence(63_000)];
  const call = await callTo({ voicemail: 'leave_message' }, sound, {
    63000: ({ speech }) => speech.saysAnswerer?.('machine'),
    63100: ({ speech }) => {
      speech.saysAnswerer?.('menu');
      speech.saysAnswerer?.('human');
    },
  });
  const { answeredBy, evidence } = call.last()!;
  expect(answeredBy).toBe('human');
  expect(evidence.filter(({ heard }) => heard === 'agent')).toMatchObject([{ suggests: 'human', atMs: 63_100 }]);
  expect(call.news.map(({ event }) => event)).not.toContain('leave_message');
});

test('the word of an agent has its place beside all that was heard', async () => {
  const beeps = Array.from({ length: 40 }, () => [...tone(1000, 300), ...silence(500)]).flat();
  const call = await callTo({ voicemail: 'continue' }, [...greeting, ...beeps]);
  expect(call.last()!.evidence).toHaveLength(31);
  call.agent.saysAnswerer?.('human');
  expect(call.last()).toMatchObject({ answeredBy: 'human', evidence: { length: 32 } });
});

test('a machine of which the agent knows late is left a message once it is silent', async () => {
  const sound = [...greeting, ...silence(65_000)];
  const call = await callTo(leave, sound, { 63000: ({ speech }) => speech.saysAnswerer?.('machine') });
  expect(call.played[0]! - 65_000).toBeGreaterThanOrEqual(0);
  expect(call.played[0]! - 65_000).toBeLessThan(100);
});
