import { expect, test } from 'vitest';
import { readAgentMessage, StreamWriter } from './agent-messages.ts';

const read = (message: unknown) => readAgentMessage(Buffer.from(JSON.stringify(message)));

test('media, marks and clear are read', () => {
  expect(read({ event: 'media', streamSid: 'MZ1', media: { payload: 'AQID' } })).toEqual({
    event: 'media',
    audio: Buffer.from([1, 2, 3]),
  });
  expect(read({ event: 'mark', mark: { name: 'a' } })).toEqual({ event: 'mark', name: 'a' });
  expect(read({ event: 'clear', streamSid: 'MZ1' })).toEqual({ event: 'clear' });
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
