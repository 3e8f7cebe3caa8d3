import { FRAME, pcmToUlaw, ULAW_SILENCE } from '@trunkline/media';
import { expect, test } from 'vitest';
import { SpeechDetector } from './speech-detector.ts';

const silence = Buffer.alloc(FRAME, ULAW_SILENCE);
const loud = (amplitude: number) =>
  Buffer.from(Uint8Array.from({ length: FRAME }, (_, at) => pcmToUlaw(Math.round(amplitude * Math.sin(at / 3)))));
const noise = (amplitude: number) =>
  Buffer.from(
    Uint8Array.from({ length: FRAME }, (_, at) => pcmToUlaw(((at * 7919) % 201) * (amplitude / 100) - amplitude)),
  );
const changes = (detector: SpeechDetector, frames: Buffer[]) =>
  frames.flatMap((frame, at) => {
    const change = detector.hear(frame);
    return change ? [[change, at]] : [];
  });
const many = (count: number, frame: Buffer) => Array.from({ length: count }, () => frame);

test('speech begins after 60 ms, goes on through short gaps, and stops 300 ms behind its last word', () => {
  const frames = [
    ...many(50, silence),
    ...many(10, loud(8000)),
    ...many(8, silence),
    ...many(10, loud(8000)),
    ...many(40, silence),
  ];
  expect(changes(new SpeechDetector(), frames)).toEqual([
    ['begins', 52],
    ['stops', 92],
  ]);
});

test('clicks and the steady noise of a line are no speech', () => {
  const click = [...many(10, silence), loud(12_000), loud(12_000), ...many(10, silence)];
  expect(changes(new SpeechDetector(), click)).toEqual([]);
  expect(changes(new SpeechDetector(), many(500, noise(100)))).toEqual([]);
});

test('an echo of what is said is no speech, and a callee who is louder is one', () => {
  const detector = new SpeechDetector();
  const said = (callee: Buffer) => {
    detector.tell(loud(10_000));
    return detector.hear(callee);
  };
  expect(many(50, loud(1500)).map(said)).not.toContain('begins');
  expect(many(10, loud(6000)).map(said)).toContain('begins');
});
