import { expect, test } from 'vitest';
import { createRequest, createResponse, setBody } from './message.ts';
import { writeMessage } from './write-message.ts';

const request = () => {
  const message = createRequest('INVITE', 'sip:bob@example.com');
  message.headers.add('via', 'SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa').add('from', '<sip:ada@example.com>;tag=1');
  message.headers.add('to', '<sip:bob@example.com>').add('call-id', 'one').add('CSEQ', '1 INVITE');
  return message;
};

test('a message is written with its names as people write them, and the length of its body', () => {
  const message = request();
  message.headers.add('x-trunkline-id', '7').add('WWW-authenticate', 'Digest realm="a"').add('content-length', '99');
  setBody(message, 'text/plain', 'ä');
  expect(writeMessage(message)).toBe(
    [
      'INVITE sip:bob@example.com SIP/2.0',
      'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa',
      'From: <sip:ada@example.com>;tag=1',
      'To: <sip:bob@example.com>',
      'Call-ID: one',
      'CSeq: 1 INVITE',
      'X-Trunkline-Id: 7',
      'WWW-Authenticate: Digest realm="a"',
      'Content-Type: text/plain',
      'Content-Length: 2',
      '',
      'ä',
    ].join('\r\n'),
  );
});

test('a response copies Via, From, To with a tag, Call-ID and CSeq', () => {
  const text = writeMessage(createResponse(request(), 486, 'mine'));
  expect(text).toMatch(
    /^SIP\/2\.0 486 Busy Here\r\nVia: SIP.*\r\nFrom: .*tag=1\r\nTo: <sip:bob@example.com>;tag=mine\r\n/,
  );
  expect(writeMessage(createResponse(request(), 100, 'mine'))).not.toContain('mine');
});

test.each([
  [
    'a value',
    () => request().headers.add('subject', 'a\r\nX-Admin: yes'),
    /^The header Subject has a control character\.$/,
  ],
  ['a value that is set', () => request().headers.set('to', '<sip:a>\n'), /^The header To has/],
  ['a value at the head', () => request().headers.prepend('route', '<sip:a>\u0000'), /^The header Route has/],
  ['a name', () => request().headers.add('X-A: b\r\nX-B', 'c'), /^This is no name of a header/],
  [
    'the Request-URI',
    () => writeMessage({ ...request(), uri: 'sip:a SIP/2.0\r\nX: y' }),
    /^The Request-URI has a control/,
  ],
  ['a space in the Request-URI', () => writeMessage({ ...request(), uri: 'sip:a b' }), /^The Request-URI has a space/],
  ['the method', () => writeMessage({ ...request(), method: 'IN VITE' }), /^The method/],
  ['the phrase', () => writeMessage(createResponse(request(), 200, 'x', 'OK\r\nX: y')), /^The reason phrase has/],
])('nothing that could end a line is written: %s', (_where, write, refusal) => {
  expect(write).toThrow(refusal);
});
