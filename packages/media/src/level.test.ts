import { expect, test } from 'vitest';
import { FRAME, pcmToUlaw, ULAW_SILENCE } from './g711.ts';
import { audiblePart, isAudible, levelOf } from './level.ts';

const tone = (hertz: number, peak: number, samples = FRAME) =>
  Buffer.from(
    Uint8Array.from({ length: samples }, (_, at) => pcmToUlaw(peak * Math.sin((2 * Math.PI * hertz * at) / 8000))),
  );
const silence = (samples: number) => Buffer.alloc(samples, ULAW_SILENCE);

test('both silences of µ-law, and the noise of a quiet line, are silence; a low voice is none', () => {
  for (const quiet of [silence(FRAME), Buffer.alloc(FRAME, 0x7f), tone(400, 60)]) expect(isAudible(quiet)).toBe(false);
  for (const hertz of [100, 300, 400, 500, 1000, 2000, 3000]) expect(isAudible(tone(hertz, 300))).toBe(true);
  expect(levelOf(Buffer.alloc(0))).toBe(0);
  expect(levelOf(Buffer.alloc(FRAME, 0))).toBe(32_124);
});

test('any piece is audible if, and only if, its level is', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed % below;
  };
  for (let round = 0; round < 2000; round += 1) {
    const quiet = random(0x30);
    const piece = Buffer.from(Uint8Array.from({ length: random(400) }, () => 0xff - random(quiet + 1)));
    const [from, until] = [random(piece.length + 1), random(piece.length + 1)].sort((a, b) => a - b) as [
      number,
      number,
    ];
    expect(isAudible(piece, from, until)).toBe(levelOf(piece.subarray(from, until)) >= 64);
  }
});

test('what is audible of a piece lies between the silences at its ends', () => {
  expect(audiblePart(Buffer.alloc(0))).toBeUndefined();
  expect(audiblePart(silence(100_000))).toBeUndefined();
  expect(audiblePart(tone(400, 8000, 1000))).toEqual({ from: 0, until: 1000 });
  const piece = Buffer.concat([
    silence(2 * FRAME),
    tone(400, 8000),
    silence(FRAME),
    tone(400, 8000),
    silence(3 * FRAME),
  ]);
  expect(audiblePart(piece)).toEqual({ from: 2 * FRAME, until: 5 * FRAME });
});
