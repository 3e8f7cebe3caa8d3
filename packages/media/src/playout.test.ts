import { expect, test } from 'vitest';
import { FRAME, ULAW_SILENCE } from './g711.ts';
import { Playout } from './playout.ts';

function playing() {
  const marks: string[] = [];
  const playout = new Playout((name) => marks.push(name));
  const next = (bytes = FRAME) => {
    const frame = Buffer.alloc(bytes);
    return { said: playout.next(frame), frame };
  };
  return { playout, marks, next };
}
const sound = (bytes: number, fill = 1) => Buffer.alloc(bytes, fill);

test('nothing said is silence', () => {
  expect(playing().next()).toEqual({ said: false, frame: sound(FRAME, ULAW_SILENCE) });
});

test('chunks of any length come out in frames, byte for byte', () => {
  const { playout, next } = playing();
  const said = Buffer.from(Array.from({ length: 20_000 }, (_, at) => at % 251));
  for (let at = 0, length = 1; at < said.length; at += length, length = (length * 7) % 4999)
    playout.push(said.subarray(at, at + length));
  const heard = Buffer.concat(Array.from({ length: 20_000 / FRAME }, () => next().frame));
  expect(heard.equals(said)).toBe(true);
  expect(playout.queued).toBe(0);
  expect(next().said).toBe(false);
});

test('what is pushed after the queue was empty comes out too, the rest of a frame as silence', () => {
  const { playout, next } = playing();
  for (let round = 0; round < 100; round += 1) {
    playout.push(sound(FRAME * 2 + 40, round));
    const [, , last] = [next(), next(), next()];
    expect(last?.frame).toEqual(Buffer.concat([sound(40, round), sound(120, ULAW_SILENCE)]));
  }
});

test('a little is waited for before it is played, at most 40 ms', () => {
  const { playout, next } = playing();
  playout.push(sound(FRAME));
  expect([next().said, next().said, next().said]).toEqual([false, false, true]);
  const other = playing();
  other.playout.push(sound(FRAME * 2));
  expect(other.next().said).toBe(true);
});

test('marks come back when all before them was played, in their order, and at once where nothing waits', () => {
  const { playout, next, marks } = playing();
  playout.mark('none');
  expect(marks).toEqual(['none']);
  playout.push(sound(FRAME * 2));
  playout.mark('a');
  playout.push(sound(FRAME));
  playout.mark('b');
  playout.mark('c');
  next();
  expect(marks).toEqual(['none']);
  next();
  expect(marks).toEqual(['none', 'a']);
  next();
  expect(marks).toEqual(['none', 'a', 'b', 'c']);
});

test('clear leaves out what waits and brings its marks back; what is said then is played', () => {
  const { playout, next, marks } = playing();
  playout.push(sound(100_000));
  playout.mark('a');
  next();
  playout.clear();
  expect(marks).toEqual(['a']);
  expect(next().said).toBe(false);
  playout.push(sound(FRAME * 2, 7));
  expect(next().frame).toEqual(sound(FRAME, 7));
});

test('sound is told from silence: what is heard of it, what waits, and what nobody hears', () => {
  const { playout, next } = playing();
  const silence = (frames: number) => sound(frames * FRAME, ULAW_SILENCE);
  playout.push(Buffer.concat([silence(2), sound(2 * FRAME), silence(2)]));
  const heard = Array.from({ length: 7 }, () => [next().said, playout.sounding, playout.hasSound]);
  expect(heard).toEqual([
    [true, false, true],
    [true, false, true],
    [true, true, true],
    [true, true, false],
    [true, false, false],
    [true, false, false],
    [false, false, false],
  ]);
  playout.push(silence(10));
  playout.drop();
  expect(playout.leftOut).toBe(0);
  playout.push(Buffer.concat([silence(3), sound(5 * FRAME), silence(3)]));
  for (let frame = 0; frame < 4; frame += 1) next();
  playout.drop();
  expect([playout.leftOut, playout.queued, playout.hasSound]).toEqual([4 * FRAME, 0, false]);
  playout.push(sound(10 * FRAME));
  playout.clear();
  expect([playout.leftOut, playout.hasSound, next().said, playout.sounding]).toEqual([4 * FRAME, false, false, false]);
  while (playout.push(sound(80_000))) {}
  expect(playout.leftOut).toBe(4 * FRAME + 80_000);
});

test('hours of sound, and marks without number, are bounded', () => {
  const { playout, marks } = playing();
  let taken = 0;
  while (playout.push(sound(80_000))) taken += 80_000;
  expect(taken).toBe(8000 * 300);
  let waiting = 0;
  while (playout.mark(`${waiting}`)) waiting += 1;
  expect(waiting).toBe(15_000);
  playout.clear();
  expect(marks).toHaveLength(15_000);
  expect(playout.push(sound(1))).toBe(true);
});

/** An agent that sends 20 ms at a time; its clock, beside ours, runs this much faster. Tells what waits, each second. */
function realTime(
  seconds: number,
  { faster = 0, lead = 0, stallAt = Number.POSITIVE_INFINITY, fill = ULAW_SILENCE } = {},
) {
  const { playout, next } = playing();
  const fills: number[] = [];
  let sent = 0;
  if (lead) playout.push(sound(lead, fill));
  for (let at = 0; at < seconds * 50; at += 1) {
    const due = at >= stallAt && at < stallAt + 15 ? sent : Math.floor((at + 1) * (1 + faster));
    for (; sent < due; sent += 1) playout.push(sound(FRAME, fill));
    next();
    if (at % 50 === 49) fills.push(playout.queued);
  }
  return fills;
}

test('an agent whose clock is 200 ppm fast, or slow, for 10 minutes is played without a growing delay', () => {
  for (const faster of [200e-6, -200e-6, 0])
    for (const fill of [ULAW_SILENCE, 1]) expect(Math.max(...realTime(600, { faster, fill }))).toBeLessThan(FRAME * 5);
});

test('what a stall of the line left waiting is taken out again', () => {
  for (const fill of [ULAW_SILENCE, 1]) {
    const fills = realTime(60, { stallAt: 500, fill });
    expect(Math.max(...fills)).toBeGreaterThan(FRAME * 10);
    expect(fills.at(-1)).toBeLessThan(FRAME * 5);
  }
});

test('the lead that an agent takes on purpose is left to it, and speech ahead of its time is never cut', () => {
  expect(realTime(30, { lead: 3200 }).at(-1)).toBeGreaterThan(3000);
  const { playout, next } = playing();
  playout.push(sound(80_000, ULAW_SILENCE));
  let frames = 0;
  while (next().said) frames += 1;
  expect(frames).toBe(500);
});
