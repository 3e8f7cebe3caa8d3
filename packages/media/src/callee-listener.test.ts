import { expect, test } from 'vitest';
import { CalleeListener, type Heard } from './callee-listener.ts';
import { FRAME, pcmToUlaw, SAMPLE_RATE } from './g711.ts';

type Sound = readonly number[];

const silence = (ms: number): Sound => Array.from({ length: ms * 8 }, () => 0);
const tone = (hz: number, ms: number, level = 6000): Sound =>
  Array.from({ length: ms * 8 }, (_, at) => level * Math.sin((2 * Math.PI * hz * at) / SAMPLE_RATE));
const both = (one: Sound, other: Sound): Sound => one.map((sample, at) => sample + other[at]!);
/** Rises by so many Hz in its time. */
const rising = (hz: number, by: number, ms: number): Sound =>
  Array.from(
    { length: ms * 8 },
    (_, at) => 6000 * Math.sin((2 * Math.PI * (hz * at + (by * at * at) / (ms * 16))) / SAMPLE_RATE),
  );
/** A voice, as far as this matters: overtones of a low tone, in syllables. */
const speech = (ms: number): Sound =>
  Array.from({ length: ms * 8 }, (_, at) => {
    const syllable = Math.abs(Math.sin((Math.PI * at) / 1600));
    const turn = (2 * Math.PI * (120 + 20 * Math.sin(at / 4000)) * at) / SAMPLE_RATE;
    return syllable * [1, 2, 3, 4, 5, 7, 9].reduce((sum, part) => sum + 900 * Math.sin(part * turn), 0);
  });

function hear(...sounds: Sound[]): Heard[] {
  const ulaw = Uint8Array.from(sounds.flat(), (sample) => pcmToUlaw(Math.round(sample)));
  const listener = new CalleeListener();
  const heard: Heard[] = [];
  for (let from = 0; from + FRAME <= ulaw.length; from += FRAME)
    heard.push(...listener.hear(ulaw.subarray(from, from + FRAME)));
  return heard;
}
const ofType = (type: Heard['type'], heard: readonly Heard[]) => heard.filter((each) => each.type === type);
const greeting = [silence(300), speech(2000), silence(600)];

test('speech and its pauses are told, with their times', () => {
  const heard = hear(...greeting, speech(1000), silence(800));
  expect(heard.map(({ type }) => type)).toEqual(['speech', 'pause', 'speech', 'pause']);
  const [, first] = heard as [Heard, { until: number }];
  expect(first.until).toBeGreaterThan(2100);
  expect(first.until).toBeLessThan(2400);
});

test.each([320, 440, 620, 850, 1000, 1333, 1400, 2000, 2550])(
  'a beep of %i Hz is told while it sounds, and with its end',
  (hz) => {
    const heard = hear(...greeting, tone(hz, 400), silence(300));
    const beeps = ofType('beep', heard) as Extract<Heard, { type: 'beep' }>[];
    const last = beeps.at(-1)!;
    expect(Math.abs(last.hz - hz)).toBeLessThan(15);
    expect(Math.abs(last.from - 2900)).toBeLessThanOrEqual(40);
    expect(Math.abs(last.until! - 3300)).toBeLessThanOrEqual(40);
    expect(ofType('speech', heard)).toHaveLength(1);
  },
);

test.each([
  ['one that rises', rising(600, 400, 400), 1],
  ['two', [...tone(1000, 250), ...silence(400), ...tone(1000, 250)], 2],
  ['one with an overtone', both(tone(700, 300), tone(1400, 300, 2500)), 1],
  ['one in noise', tone(900, 300, 2500).map((sample, at) => sample + 250 * Math.sin(at * at)), 1],
])('%s is known as well', (_, sound, count) => {
  const ended = ofType('beep', hear(...greeting, sound, silence(300))).filter((each) => 'until' in each);
  expect(ended).toHaveLength(count);
});

test.each([
  ['speech', speech(6000)],
  ['a pressed key', both(tone(770, 300), tone(1336, 300))],
  ['a plucked string', tone(523, 600).map((sample, at) => sample * Math.exp(-at / 1600))],
  ['a click', tone(1000, 60)],
])('%s is no beep', (_, sound) => {
  expect(ofType('beep', hear(...greeting, sound, silence(300)))).toEqual([]);
});

test.each([
  ['sit', [...tone(950, 330), ...tone(1400, 330), ...tone(1800, 330)]],
  ['fax', tone(2100, 2600)],
  ['fax', [...tone(1100, 500), ...silence(3000), ...tone(1100, 500)]],
  [
    'busy',
    Array.from({ length: 3 }, () => [...both(tone(480, 500, 3000), tone(620, 500, 3000)), ...silence(500)]).flat(),
  ],
  ['busy', Array.from({ length: 3 }, () => [...tone(425, 480), ...silence(480)]).flat()],
  ['ringback', both(tone(440, 2000, 3000), tone(480, 2000, 3000))],
  ['ringback', tone(425, 1000)],
] as const)('%s is told by its tones, and they are no beeps', (signal, sound) => {
  const heard = hear(silence(300), sound, silence(300));
  expect(ofType(signal, heard)).toHaveLength(1);
  expect(ofType('beep', heard)).toEqual([]);
});

test.each([
  ['an exchange rings in that tone', rising(400, 100, 1000)],
  ['it lasts for too long', tone(1000, 5000)],
  ['it is of a busy line', [620, 620, 620].flatMap((hz) => [...tone(hz, 400), ...silence(400)])],
  ['it is of SIT', [...tone(950, 330), ...tone(1400, 330), ...tone(1800, 330)]],
])('a beep that was told is told to be over, though %s', (_, sound) => {
  const beeps = ofType('beep', hear(...greeting, sound, silence(500))) as Extract<Heard, { type: 'beep' }>[];
  const begun = beeps.filter(({ until }) => until === undefined);
  expect(begun.length).toBeGreaterThan(0);
  for (const { from } of begun) expect(beeps.some((each) => each.from === from && each.until !== undefined)).toBe(true);
});
