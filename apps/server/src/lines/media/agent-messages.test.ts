import { FRAME, Playout } from '@trunkline/media';
import { expect, test } from 'vitest';
import { mutated, seeded } from '../../../../../packages/media/test/mutated.ts';
import { readAgentMessage, StreamWriter } from './agent-messages.ts';

const RUNS = 20_000;

const read = (message: unknown) => readAgentMessage(Buffer.from(JSON.stringify(message)));

test('media, marks and clear are read', () => {
  expect(read({ event: 'media', streamSid: 'MZ1', media: { payload: 'AQID' } })).toEqual({
    event: 'media',
    audio: Buffer.from([1, 2, 3]),
  });
  expect(read({ event: 'mark', mark: { name: 'a' } })).toEqual({ event: 'mark', name: 'a' });
  expect(read({ event: 'clear', streamSid: 'MZ1' })).toEqual({ event: 'clear' });
  expect(read({ event: 'dtmf', dtmf: { digits: '2W104#' } })).toEqual({ event: 'dtmf', digits: '2W104#' });
  for (const digits of ['', 'ww', '1e', '1'.repeat(65), 12])
    expect(read({ event: 'dtmf', dtmf: { digits } })).toBeUndefined();
});

test.each([
  [{ event: 'media' }],
  [{ event: 'media', media: { payload: 7 } }],
  [{ event: 'media', media: null }],
  [{ event: 'mark', mark: {} }],
  [{ event: 'mark', mark: { name: 'x'.repeat(1001) } }],
  [{ event: 'other' }],
  [null],
  [[]],
  ['media'],
  [7],
])('what means nothing is nothing: %j', (message) => {
  expect(read(message)).toBeUndefined();
});

test('long sound is read as short sound is, whatever stands around it', () => {
  const audio = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7) % 256));
  const payload = audio.toString('base64');
  const escaped = payload.replaceAll('/', '\\/');
  const texts = [
    JSON.stringify({ event: 'media', streamSid: 'MZ1', media: { payload } }),
    JSON.stringify({ media: { track: 'inbound', payload, more: [1] }, event: 'media' }, null, 2),
    `{"event":"media","media":{"payload":"${escaped}"}}`,
  ];
  for (const text of texts) expect(readAgentMessage(Buffer.from(text))).toEqual({ event: 'media', audio });
});

test('what is long and no sound is nothing', () => {
  const long = 'x'.repeat(20_000);
  const payload = 'A'.repeat(20_000);
  const all = [
    JSON.stringify({ event: 'media', media: { payload }, more: long }),
    JSON.stringify({ event: 'media', more: long, media: { payload } }),
    JSON.stringify({ event: 'other', media: { payload } }),
    JSON.stringify({ event: 'media', other: { payload }, media: { payload: 'AQID' } }),
    JSON.stringify({ event: 'mark', mark: { name: 'a' }, more: long }),
    `{"event":"media","media":{"payload":"${payload}`,
    '['.repeat(4_000_000),
  ];
  for (const text of all) expect(readAgentMessage(Buffer.from(text))).toBeUndefined();
});

test('what is no JSON is nothing', () => {
  for (const text of ['', '{', '{"event":"media"', '\0', 'ÿ'])
    expect(readAgentMessage(Buffer.from(text, 'latin1'))).toBeUndefined();
});

test('what we say is numbered, and sound bears its time in whole ms', () => {
  const writer = new StreamWriter({ accountSid: 'AC1', callSid: 'room_1', streamSid: 'MZ1' });
  expect(JSON.parse(writer.connected())).toEqual({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  const said = [
    writer.start({ name: 'Ada' }),
    writer.media(Buffer.alloc(160, 0xff)),
    writer.media(Buffer.from([1, 2, 3])),
    writer.media(Buffer.alloc(1)),
    writer.dtmf('5'),
    writer.mark('a'),
    writer.stop(),
  ].map((text) => JSON.parse(text));
  expect(said[0]).toEqual({
    event: 'start',
    sequenceNumber: '1',
    start: {
      accountSid: 'AC1',
      streamSid: 'MZ1',
      callSid: 'room_1',
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      customParameters: { name: 'Ada' },
    },
    streamSid: 'MZ1',
  });
  expect(said[2]).toEqual({
    event: 'media',
    sequenceNumber: '3',
    media: { track: 'inbound', chunk: '2', timestamp: '20', payload: 'AQID' },
    streamSid: 'MZ1',
  });
  expect(said.map(({ sequenceNumber }) => sequenceNumber)).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  expect(said[3].media.timestamp).toBe('20');
  expect(said[4].dtmf).toEqual({ track: 'inbound_track', digit: '5' });
  expect(said[5].mark).toEqual({ name: 'a' });
  expect(said[6].stop).toEqual({ accountSid: 'AC1', callSid: 'room_1' });
});

test(`${RUNS} mutated messages of an agent are taken or left out, and what it says stays bounded`, () => {
  const below = seeded(3);
  const marks: string[] = [];
  const playout = new Playout((name) => marks.push(name));
  const samples = [
    { event: 'media', streamSid: 'MZ1', media: { payload: Buffer.alloc(160, 7).toString('base64') } },
    { event: 'media', media: { payload: Buffer.alloc(8000, 7).toString('base64') } },
    { event: 'mark', streamSid: 'MZ1', mark: { name: 'sentence 1' } },
    { event: 'clear', streamSid: 'MZ1' },
  ].map((message) => Buffer.from(JSON.stringify(message)));
  const frame = Buffer.alloc(FRAME);
  let taken = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const message = readAgentMessage(mutated(samples[run % samples.length]!, below));
    if (message) taken += 1;
    if (message?.event === 'media') playout.push(message.audio);
    else if (message?.event === 'mark') playout.mark(message.name);
    else if (message) playout.clear();
    if (run % 5 === 0) playout.next(frame);
    expect(playout.queued >= 0 && playout.queued <= 8000 * 300).toBe(true);
  }
  expect(taken).toBeGreaterThan(RUNS / 10);
  expect(marks.every((name) => name.length <= 256)).toBe(true);
});
