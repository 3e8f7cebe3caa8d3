import { expect, test } from 'vitest';
import { addressIn, callIdOf, cseqOf, fromTagOf, sdpOf, topViaOf, toTagOf } from './message.ts';
import { parseMessage } from './parse-message.ts';
import { writeMessage } from './write-message.ts';

const wire = (lines: string[], body = '') => Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
const mandatory = [
  'Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKa',
  'From: "Ada, \\"the first\\"" <sip:ada@example.com>;tag=1',
  'To: <sip:bob@example.com>',
  'Call-ID: one@192.0.2.1',
  'CSeq: 1 INVITE',
];
const invite = ['INVITE sip:bob@example.com SIP/2.0', ...mandatory];

test('a request is read with compact forms, folded lines, several entries in a line, and spaces', () => {
  const message = parseMessage(
    wire(
      [
        'INVITE sip:+14155550100@192.0.2.4;user=phone SIP/2.0',
        'v: SIP / 2.0 / TCP first.example.com:5061 ;branch=z9hG4bKone,',
        '  SIP/2.0/UDP [2001:db8::1];branch=z9hG4bKtwo',
        'VIA: SIP/2.0/UDP 192.0.2.9;branch=z9hG4bKthree',
        'f: sip:ada@example.com;tag=a1',
        't : <sip:bob@example.com;x=1>;tag="b 2"',
        'i: f81d4fae@192.0.2.1',
        'CSeq:  7 \t INVITE',
        'm: "Doe, J" <sip:a@192.0.2.1>;q=0.5, <sip:b@192.0.2.2>',
        'k: 100rel, Timer',
        'Supported: path',
        'c: application/sdp',
        'l: 5',
      ],
      'v=0\r\nrest that is cut off',
    ),
  );
  expect(message.kind).toBe('request');
  expect(message.headers.all('via')).toHaveLength(3);
  expect(topViaOf(message)).toMatchObject({ transport: 'TCP', host: 'first.example.com', port: 5061 });
  expect(fromTagOf(message)).toBe('a1');
  expect(toTagOf(message)).toBe('b 2');
  expect(callIdOf(message)).toBe('f81d4fae@192.0.2.1');
  expect(cseqOf(message)).toEqual({ number: 7, method: 'INVITE' });
  expect(addressIn(message, 'contact')).toBe('sip:a@192.0.2.1');
  expect(message.headers.all('contact')).toHaveLength(2);
  expect(message.headers.tokens('supported')).toEqual(['100rel', 'timer', 'path']);
  expect(sdpOf(message)).toBe('v=0\r\n');
});

test('a datagram full of spaces with a folded line is refused as fast as one without spaces', () => {
  const spent = (filling: string) => {
    const bytes = wire([...invite, `Subject: a${filling}b`, 'X-Folded: one', ' two']);
    const before = process.cpuUsage();
    expect(() => parseMessage(bytes)).toThrow('A line is too long.');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const plain = spent('x'.repeat(60_000));
  for (const space of [' ', '\t']) expect(spent(space.repeat(60_000))).toBeLessThan(10 * plain + 500);
});

test('a response is read, with a phrase or without', () => {
  const ringing = parseMessage(wire(['SIP/2.0 180 Läutet gerade', ...mandatory]));
  expect(ringing).toMatchObject({ kind: 'response', status: 180, phrase: 'Läutet gerade' });
  expect(parseMessage(wire(['SIP/2.0 200', ...mandatory]))).toMatchObject({ status: 200, phrase: '' });
});

test('what is written is read again as it was', () => {
  const message = parseMessage(wire([...invite, 'X-Note: a;b="c,d"', 'Content-Type: text/plain'], 'Grüße'));
  const again = parseMessage(Buffer.from(writeMessage(message)));
  const withoutLength = [...again.headers].filter(([name]) => name !== 'content-length');
  expect(withoutLength).toEqual([...message.headers]);
  expect(again.body).toBe('Grüße');
  expect(again.headers.get('content-length')).toBe('7');
});

const without = (name: string) => invite.filter((line) => !line.startsWith(name));

test.each<[string, Buffer]>([
  ['no end of the headers', Buffer.from(invite.join('\r\n'))],
  ['no first line of SIP', wire(['GET / HTTP/1.1', ...mandatory])],
  ['another version', wire(['INVITE sip:bob@example.com SIP/3.0', ...mandatory])],
  ['no Via', wire(without('Via'))],
  ['no From', wire(without('From'))],
  ['no Call-ID', wire(without('Call-ID'))],
  ['two To', wire([...invite, 'To: <sip:c@example.com>'])],
  ['a From without a tag', wire([...without('From'), 'From: <sip:a@example.com>'])],
  ['a CSeq of another method', wire([...without('CSeq'), 'CSeq: 1 BYE'])],
  ['a CSeq that is too large', wire([...without('CSeq'), 'CSeq: 2147483648 INVITE'])],
  ['a Via that is none', wire([...without('Via'), 'Via: here'])],
  ['an address with an open bracket', wire([...without('To'), 'To: <sip:bob@example.com'])],
  ['a NUL', wire([...invite, 'Subject: a\u0000b'])],
  ['a lone line feed', wire([...invite, 'Subject: a\nX-Admin: yes'])],
  ['a header without a name', wire([...invite, ': value'])],
  ['a line without a colon', wire([...invite, 'nonsense'])],
  ['a Content-Length that is longer than the body', wire([...invite, 'Content-Length: 6'], '12345')],
  ['a negative Content-Length', wire([...invite, 'Content-Length: -1'])],
  ['two lengths', wire([...invite, 'Content-Length: 1', 'l: 2'], 'abc')],
  ['too many headers', wire([...invite, ...Array.from({ length: 200 }, (_, n) => `X-${n}: 1`)])],
  ['too many entries in a line', wire([...invite, `Route: ${'<sip:a>,'.repeat(250)}<sip:a>`])],
  ['a line that is too long', wire([...invite, `Subject: ${'a'.repeat(9000)}`])],
  ['a message that is too long', wire(invite, 'a'.repeat(66_000))],
])('refused: %s', (_what, bytes) => {
  expect(() => parseMessage(bytes)).toThrow(/^(The|A|This|There|From|CSeq|Something) /);
  expect(parseMessage(wire(invite)).kind).toBe('request');
});
