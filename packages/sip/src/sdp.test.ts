import { expect, test } from 'vitest';
import { parseSdp, SdpError, writeSdp } from './sdp.ts';

const asterisk = [
  'v=0',
  'o=- 1583874316 1583874316 IN IP4 198.51.100.7',
  's=Asterisk',
  'c=IN IP4 198.51.100.7',
  't=0 0',
  'm=audio 14358 RTP/AVP 0 8 101',
  'c=IN IP4 198.51.100.8',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-16',
  'a=ptime:20',
  'a=sendrecv',
  'm=image 0 udptl t38',
  '',
].join('\r\n');

test('a description is read: origin, addresses of session and line, attributes, refused lines', () => {
  const read = parseSdp(asterisk);
  expect(read.origin).toEqual({
    username: '-',
    sessionId: '1583874316',
    version: '1583874316',
    family: 4,
    address: '198.51.100.7',
  });
  expect(read.connection).toEqual({ family: 4, address: '198.51.100.7' });
  expect(read.media).toHaveLength(2);
  expect(read.media[0]).toMatchObject({
    kind: 'audio',
    port: 14358,
    protocol: 'RTP/AVP',
    formats: ['0', '8', '101'],
    connection: { family: 4, address: '198.51.100.8' },
  });
  expect(read.media[0]?.attributes.at(-1)).toEqual({ name: 'sendrecv' });
  expect(read.media[1]).toMatchObject({ kind: 'image', port: 0, protocol: 'udptl' });
});

test('what is written is read as it was', () => {
  const read = parseSdp(asterisk.replaceAll('IP4 198.51.100.8', 'IP6 2001:db8::8'));
  expect(parseSdp(writeSdp(read))).toEqual(read);
});

test('bare LF ends lines too, and what nobody needs is left out', () => {
  const text = asterisk.replaceAll('\r\n', '\n').replace('t=0 0', 'i=talk\nb=AS:64\nk=clear:no\nt=0 0');
  expect(parseSdp(text)).toEqual(parseSdp(asterisk));
});

test.each([
  ['', 'v=0'],
  ['v=1\r\n', 'v=0'],
  ['v=0\r\n', 'o='],
  [asterisk.replace('o=- 1583874316', 'o=- x'), 'origin'],
  [asterisk.replace('14358', '65536'), 'port'],
  [asterisk.replace('14358', '-1'), 'media line'],
  [asterisk.replace('c=IN IP4', 'c=IN IP5'), 'address'],
  [asterisk.replace('s=Asterisk', 'Asterisk'), 'No line'],
  [asterisk.replace('a=ptime:20', 'a=:20'), 'attribute'],
  [asterisk.replace('a=ptime:20', 'a=ptime:\u000020'), 'No line'],
  [`${asterisk}${'m=audio 1 RTP/AVP 0\r\n'.repeat(15)}`, 'media lines'],
  [asterisk.replace(' 0 8 101', ' 0'.repeat(65)), 'formats'],
  [`${asterisk}${'a=x\r\n'.repeat(4000)}`, 'characters'],
])('what is no description is refused by name: %#', (text, culprit) => {
  expect(() => parseSdp(text)).toThrow(SdpError);
  expect(() => parseSdp(text)).toThrow(culprit);
});

test('no value begins a line of its own', () => {
  const read = parseSdp(asterisk);
  read.media[0]!.attributes.push({ name: 'x', value: 'y\r\nm=audio 1 RTP/AVP 0' });
  expect(() => writeSdp(read)).toThrow(SdpError);
});
