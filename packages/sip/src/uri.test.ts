import { expect, test } from 'vitest';
import { parseNameAddr, writeNameAddr } from './name-addr.ts';
import { escapeUser, parseUri, writeUri } from './uri.ts';
import { parseVia, writeVia } from './via.ts';

test.each([
  'sip:+14155550100@sip.example.com:5080;transport=tcp;lr',
  'sips:ada%40work@[2001:db8::1]:5061',
  'sip:203.0.113.7',
  'sip:alice;isub=1@example.com;user=phone?subject=a&priority=b',
  'tel:+1-415-555-0100;phone-context=example.com',
])('%s is written as it was read', (text) => {
  expect(writeUri(parseUri(text))).toBe(text);
});

test('a URI is read', () => {
  expect(parseUri('SIP:ada:secret@Example.COM:5080;Transport=TCP;lr')).toEqual({
    scheme: 'sip',
    user: 'ada:secret',
    host: 'example.com',
    port: 5080,
    parameters: new Map([
      ['transport', 'TCP'],
      ['lr', ''],
    ]),
  });
});

test.each([
  '',
  'sip:',
  'http://example.com',
  'sip:a@',
  'sip:a@b:99999',
  'sip:a@b:0',
  'sip:a b@c',
  'sip:a@b;x=<y>',
  'sip:%zz@b',
  'sip:a@[::1',
])('no URI: %s', (text) => {
  expect(() => parseUri(text)).toThrow();
});

test('any text can be a user part', () => {
  const uri = parseUri(`sip:${escapeUser('a@b:c#ü')}@example.com`);
  expect(uri.user).toBe('a%40b%3Ac%23%C3%BC');
});

test.each([
  ['"Doe, \\"J\\" <x>" <sip:j@example.com;a=b>;tag=1;x="y z"', 'Doe, "J" <x>', 'sip:j@example.com;a=b', '1'],
  ['Ada Lovelace <sip:ada@example.com>;tag=2', 'Ada Lovelace', 'sip:ada@example.com', '2'],
  ['sip:ada@example.com;tag=3', undefined, 'sip:ada@example.com', '3'],
  ['<tel:+14155550100>', undefined, 'tel:+14155550100', undefined],
])('%s is an address', (text, displayName, uri, tag) => {
  const read = parseNameAddr(text);
  expect(read).toMatchObject({ uri, ...(displayName && { displayName }) });
  expect(read.parameters.get('tag')).toBe(tag);
  expect(parseNameAddr(writeNameAddr(read))).toEqual(read);
});

test.each(['', 'ada', '<sip:a', '<>', '"x <sip:a>', '<sip:a> b', '<sip:a b>', 'a <b> <sip:c>;=d'])(
  'no address: %s',
  (text) => {
    expect(() => parseNameAddr(text)).toThrow();
  },
);

test('a Via is written as it was read', () => {
  const text = 'SIP/2.0/TLS [2001:db8::1]:5061;branch=z9hG4bKa;rport;received=2001:db8::9';
  expect(writeVia(parseVia(text))).toBe(text);
  expect(() => parseVia('SIP/2.0/UDP host:99999;branch=a')).toThrow();
});
