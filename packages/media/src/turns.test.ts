import { expect, test } from 'vitest';
import { FRAME, pcmToUlaw, ULAW_SILENCE } from './g711.ts';
import { Turns } from './turns.ts';
import { Words } from './words.ts';

const noise = (peak: number) =>
  Buffer.from(Uint8Array.from({ length: FRAME }, (_, at) => pcmToUlaw(peak * Math.sin(at * at))));
const silence = Buffer.alloc(FRAME, ULAW_SILENCE);
const LIMIT = 30_000;

/** A call that is answered at 1000, and its time. */
function call() {
  const turns = new Turns();
  let now = 1000;
  turns.answer(now);
  const pass = (ms: number) => {
    now += ms;
    return now;
  };
  /** So many ms of the callee, loud for the first `loud` of them. */
  const callee = (ms: number, loud = 0) => {
    for (let at = 0; at < ms; at += 20) turns.heard(at < loud ? noise(6000) : silence, pass(20));
  };
  const voice = (ms: number) => {
    for (let at = 0; at < ms; at += 20) turns.said(pass(20));
  };
  const rest = (ms: number) => turns.rest(pass(ms));
  return { turns, callee, voice, rest, press: () => turns.pressed(now), silent: () => turns.fellSilent(now, LIMIT) };
}

test('a voice that was never heard is waited for since the answer, though the callee asks every five seconds', () => {
  const { turns, callee, silent } = call();
  for (let asked = 0; asked < 5; asked += 1) callee(5000, 1000);
  callee(4980, 1000);
  expect(silent()).toBeUndefined();
  callee(20);
  expect(silent()).toBe('voice');
  expect([turns.calleeSpoke, turns.firstSoundMs]).toEqual([true, undefined]);
});

test('the long greeting of a machine is listened to before', () => {
  const { callee, silent } = call();
  for (let sentence = 0; sentence < 20; sentence += 1) callee(2000, 1200);
  callee(LIMIT - 1000);
  expect(silent()).toBeUndefined();
  callee(1000);
  expect(silent()).toBe('voice');
});

test('a voice that was heard is waited for since the last words of the callee, and since a key', () => {
  const { turns, callee, voice, press, silent } = call();
  callee(480);
  voice(1000);
  expect(turns.firstSoundMs).toBe(500);
  callee(25_000, 400);
  callee(25_000, 400);
  expect(silent()).toBeUndefined();
  callee(LIMIT - 25_000 + 400);
  expect(silent()).toBe('voice');
  press();
  expect(silent()).toBeUndefined();
  callee(LIMIT);
  expect(silent()).toBe('voice');
});

test('both are silent if the voice spoke last, or if nobody ever spoke', () => {
  const never = call();
  never.callee(LIMIT);
  expect(never.silent()).toBe('both');
  const asked = call();
  asked.callee(5000, 1000);
  asked.voice(2000);
  asked.callee(LIMIT - 20);
  expect(asked.silent()).toBeUndefined();
  asked.callee(20);
  expect(asked.silent()).toBe('both');
});

test('a hold, and sound that waits, are nobody’s silence; and there is none before the answer', () => {
  const { rest, callee, silent } = call();
  callee(20_000, 400);
  rest(20_000);
  callee(LIMIT - 20);
  expect(silent()).toBeUndefined();
  callee(20);
  expect(silent()).toBe('voice');
  expect(new Turns().fellSilent(1e9, 1)).toBeUndefined();
});

test('a steady noise is no word after two seconds, words in it are, and clicks are not', () => {
  const words = new Words();
  const hear = (ms: number, peak: number) =>
    Array.from({ length: ms / 20 }, () => words.hear(noise(peak))).filter(Boolean).length;
  expect(hear(1000, 100)).toBe(0);
  hear(2000, 600);
  expect(hear(10_000, 600)).toBe(0);
  expect(hear(400, 6000)).toBeGreaterThan(15);
  hear(2000, 0);
  for (let click = 0; click < 10; click += 1) expect(hear(40, 6000) + hear(100, 0)).toBe(0);
});
