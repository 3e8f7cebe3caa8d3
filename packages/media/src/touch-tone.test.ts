import { expect, test } from 'vitest';
import { FRAME, halved, pcmToUlaw, ULAW_SILENCE, ulawPcm } from './g711.ts';
import { ToneReceiver, writeTone } from './touch-tone.ts';

const ALL = '0123456789*#ABCD';

/** Numbers from 0 to 1, the same ones for each seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A press after another: tones and pauses of some ms, begun anywhere between frames. */
function pressed(digits: string, { toneMs = 100, pauseMs = 60, before = 0 } = {}): Buffer {
  const parts = [...digits].flatMap((digit) => {
    const tone = Buffer.alloc(toneMs * 8);
    writeTone(tone, digit, 0);
    return [tone, Buffer.alloc(pauseMs * 8, ULAW_SILENCE)];
  });
  return Buffer.concat([Buffer.alloc(before, ULAW_SILENCE), ...parts, Buffer.alloc(4 * FRAME, ULAW_SILENCE)]);
}

function heard(sound: Buffer): string {
  const receiver = new ToneReceiver();
  let digits = '';
  for (let at = 0; at < sound.length; at += FRAME) digits += receiver.hear(sound.subarray(at, at + FRAME));
  return digits;
}

/** Two tones of some hertz, each of an amplitude. */
const tones = (one: [hertz: number, amplitude: number], two: [hertz: number, amplitude: number], ms: number) =>
  Buffer.from(
    Array.from({ length: ms * 8 }, (_, at) => {
      const wave = ([hertz, amplitude]: [number, number]) => amplitude * Math.sin((2 * Math.PI * hertz * at) / 8000);
      return pcmToUlaw(Math.round(wave(one) + wave(two)));
    }),
  );

test('each digit that is written is heard once, wherever it begins', () => {
  for (let before = 0; before < FRAME; before += 13) expect(heard(pressed(ALL, { before }))).toBe(ALL);
});

test('random digits, the same one again too, are heard as they were pressed, also short ones (ITU-T Q.24)', () => {
  const random = numbers(7);
  for (let round = 0; round < 60; round += 1) {
    const digits = Array.from({ length: 20 }, () => ALL[Math.floor(random() * ALL.length)]).join('');
    const short = { toneMs: 40 + Math.floor(random() * 60), pauseMs: 40 + Math.floor(random() * 60) };
    expect(heard(pressed(digits, { ...short, before: Math.floor(random() * 800) }))).toBe(digits);
  }
});

test('a long press is one digit, and a faint one is heard', () => {
  expect(heard(pressed('5', { toneMs: 3000 }))).toBe('5');
  expect(heard(halved(halved(halved(pressed(ALL)))))).toBe(ALL);
});

test('with noise that is 20 dB below it a digit is heard', () => {
  const random = numbers(11);
  const noisy = pressed(ALL).map((code) => pcmToUlaw(Math.round(ulawPcm[code]! + (random() - 0.5) * 4000)));
  expect(heard(Buffer.from(noisy))).toBe(ALL);
});

test('one tone alone, two of one group, those between, or one far below the other are no digit', () => {
  expect(heard(tones([770, 12_000], [770, 0], 200))).toBe('');
  expect(heard(tones([697, 9000], [941, 9000], 200))).toBe('');
  expect(heard(tones([440, 9000], [480, 9000], 2000))).toBe('');
  expect(heard(tones([350, 9000], [440, 9000], 2000))).toBe('');
  expect(heard(tones([697, 9000], [1209, 1500], 200))).toBe('');
  expect(heard(tones([697, 1500], [1209, 9000], 200))).toBe('');
  expect(heard(tones([697, 9000], [1209, 6000], 200))).toBe('1');
});

test('noise and chords of many tones are no digits', () => {
  const random = numbers(3);
  const noise = Buffer.from(Array.from({ length: 80_000 }, () => pcmToUlaw(Math.round((random() - 0.5) * 30_000))));
  expect(heard(noise)).toBe('');
  // As a voice: a fundamental and its overtones, which glide.
  const voice = Buffer.alloc(160_000);
  let pitch = 120;
  const phases = Array.from({ length: 16 }, () => random() * 6);
  for (let at = 0; at < voice.length; at += 1) {
    if (at % 800 === 0) pitch = 90 + random() * 160;
    let sum = 0;
    for (const [index, phase] of phases.entries()) {
      phases[index] = phase + (2 * Math.PI * pitch * (index + 1)) / 8000;
      sum += Math.sin(phase) / (1 + index / 3);
    }
    voice[at] = pcmToUlaw(Math.round(sum * 3000));
  }
  expect(heard(voice)).toBe('');
});
