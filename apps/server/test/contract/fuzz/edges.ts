import fc from 'fast-check';

/** Times at the ends of what the contract calls one, and in forms that few people write. */
export const edgeTimes = fc.constantFrom(
  ...['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '1969-12-31T23:59:59.999Z', '1582-10-10T00:00:00Z'],
  ...[
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-23:59',
    '2026-11-25T09:00:00+14:00',
    '2026-11-25T09:00:00-00:00',
  ],
  ...['2026-11-25t09:00:00.1z', '2026-02-29T00:00:00Z', '2026-12-31T23:59:60Z', '2026-11-25T09:00:00.0000000001Z'],
);
export const edgeDates = fc.constantFrom('0001-01-01', '9999-12-31', '2028-02-29', '2026-02-29', '2026-11-31');

/** Characters of one, three and four bytes: where they begin, and how many there are. */
const scripts: [first: number, count: number][] = [
  [0x21, 94],
  [0x4e00, 20_000],
  [0x1f300, 400],
];

/** Text of so many characters that nothing packs: an index has less room for it than a row. */
export const longText = (length: number): fc.Arbitrary<string> =>
  fc.tuple(fc.constantFrom(...scripts), fc.nat()).map(([[first, count], seed]) => {
    let state = seed;
    return String.fromCodePoint(
      ...Array.from({ length }, () => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
        return first + ((state >>> 8) % count);
      }),
    );
  });

/** What stands in the place of a value in a text of JSON: what `JSON.stringify` would never write. */
export const oddJson = fc.constantFrom(
  ...['1e400', '-1e400', '-0', '-0.0', '1e-400', '1.0', '1E2', '9007199254740993', '123456789012345678901234567890'],
  ...[
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\uFEFF"',
    '"\\u202ea"',
    '"\\/"',
    '"\\ud83d\\ude42"',
  ],
  ...[
    '{"__proto__":{}}',
    '{"constructor":1}',
    '{"a\\u0000":1}',
    '{"":""}',
    '{"\\ud800":1}',
    '{"a":1,"a":[]}',
    '[[[[]]]]',
  ],
  ...['NaN', 'undefined', "'x'", '01', '.5', '0x10', '"\t"', '"\\x41"', 'tru', '1,', '"', '//'],
  `"${'x'.repeat(70_000)}"`,
  `[${'0,'.repeat(2500)}0]`,
);

/** Files of contacts, as the server gets them by their URLs. */
export const oddFiles: readonly string[] = [
  ...[
    'phone,name\n+14155550123,Ann\n',
    '',
    '\0\0\0',
    '\uFEFFphone;name\r\n+14155550123;"An\r\nn"\r\n',
    'phone\n"+1415',
  ],
  ...['phone,phone,\n+14155550123,1,2,3\n', 'name\nAnn\n', `${'a,'.repeat(3000)}phone\n+14155550123\n`, '"""\n,,,\n'],
  ...[
    `phone,name\n+14155550123,${'x'.repeat(100_000)}\n`,
    `phone,v\n${'+14155550123,=cmd()\n'.repeat(500)}`,
    '\n\n\n\n',
  ],
  ...[
    'phone,__proto__,constructor\n+14155550123,1,2\n',
    `phone,${'n'.repeat(5000)}\n+14155550123,1\n`,
    'PK\u0003\u0004x',
  ],
];
