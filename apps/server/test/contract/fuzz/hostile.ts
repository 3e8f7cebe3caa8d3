import fc from 'fast-check';
import { oddJson } from './edges.ts';
import { oddParts } from './parts.ts';
import type { FuzzRequest } from './requests.ts';
import { inUrl } from './url.ts';
import { harms } from './wire.ts';

const junkText = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '\u0000', '\ud800', '\uFEFF', 'null', '-1', '1e999', '__proto__', '../../etc/passwd', '%00', '#{7*7}'],
    ...["' or 1=1 --", '{{input}}', '\u202e\u2028', 'a'.repeat(5000), '٣', '🙂'.repeat(300), '+1 (415) 555-0100'],
    ...[
      '0',
      '1e3',
      '9'.repeat(30),
      'true',
      '2026-02-30',
      '9999-12-31T23:59:59-23:59',
      'toString',
      'a,b',
      '{{',
      '\\',
      '$&',
    ],
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
/** What fits in few places. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  { arbitrary: junkText, weight: 4 },
  {
    arbitrary: fc.constantFrom<unknown>(
      ...[null, true, 0, -1, 0.5, 1e308, 2 ** 53, -(2 ** 31) - 1, 2 ** 31, 5e-324, [], {}, [[]], [null], { a: 1 }],
      ...[{ type: 'x' }, { '': '' }, { length: 1 }, { toString: 1 }],
    ),
    weight: 4,
  },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
  { arbitrary: fc.array(junkText, { minLength: 100, maxLength: 120 }), weight: 1 },
);

interface Damage {
  kind: 'replace' | 'remove' | 'add' | 'twice';
  at: number;
  value: unknown;
  /** What a place of JSON holds instead of `value`. */
  odd: string | undefined;
}
const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('replace', 'remove', 'add', 'twice'),
  at: fc.nat({ max: 1000 }),
  value: junk,
  odd: fc.option(oddJson, { freq: 2, nil: undefined }),
});

const MARK = 'where the odd one stands';

/** JSON that is changed at one place. */
function damagedJson(text: string, { odd, ...harm }: Damage): string {
  if (odd === undefined) return JSON.stringify(damaged(JSON.parse(text), harm));
  const marked = JSON.stringify(damaged(JSON.parse(text), { ...harm, value: MARK }));
  // A name that is given twice, first or last.
  const [name] = /"\w+"(?=:)/.exec(marked) ?? ['"a"'];
  return marked.replaceAll(`"${MARK}":"${MARK}"`, () => `${name}:${odd}`).replaceAll(`"${MARK}"`, () => odd);
}

/** A copy of a value that is changed at one place. */
function damaged(value: unknown, { kind, at, value: other }: Omit<Damage, 'odd'>): unknown {
  const copy = structuredClone(value);
  const places: [holder: Record<string, unknown> | unknown[], key: string | number][] = [];
  const walk = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return;
    for (const key of Array.isArray(each) ? each.keys() : Object.keys(each)) {
      places.push([each as unknown[], key]);
      walk((each as Record<string | number, unknown>)[key]);
    }
  };
  walk(copy);
  const place = places[at % Math.max(1, places.length)];
  if (!place) return other;
  const [holder, key] = place as [Record<string | number, unknown>, string | number];
  if (kind === 'remove' && !Array.isArray(holder)) delete holder[key];
  else if (kind === 'add' && !Array.isArray(holder)) holder[typeof other === 'string' ? other : 'nonsense'] = other;
  else if (kind === 'twice' && Array.isArray(holder)) holder.push(holder[key as number]);
  else holder[key] = other;
  return copy;
}

/** What the edge does not expect of a body, whatever the operation. */
const hostileBodies = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...['', '{', 'null', '[]', '"x"', '0', '{"a":1}{"b":2}', '{"a":1,"a":2}', '\uFEFF{}', '{"__proto__":{"a":1}}'],
      ...['{} ', '\n{}', '{}\0', '[]]', 'true', '{"\\u0061":1}', '\u2028{}', "{'a':1}", '{"a":1,}', '/**/{}', '1e400'],
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3000 }).map((depth) => '['.repeat(depth)) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 300 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: oddJson },
);

/** Bytes that are no UTF-8, or that of another encoding. */
const hostileBytes = fc.constantFrom(
  ...[
    '\xff\xfe{\0}\0',
    '{"name":"\xff"}',
    '{"name":"\xc0\x80"}',
    '{"name":"\xed\xa0\x80"}',
    '{"name":"\xf5\x80\x80\x80"}',
  ],
  ...['\x1f\x8b\b\0\0\0\0\0', '\0', '{"name":"\xe2\x82"}'],
);

const hostileHeaders = fc.constantFrom<Record<string, string | string[]>>(
  ...['text/plain', 'application/json; charset=utf-16', 'application/xml', 'multipart/form-data', 'x', ''].map(
    (type) => ({ 'Content-Type': type }),
  ),
  ...[
    'APPLICATION/JSON',
    'application/json;',
    ' application/json ;charset="utf-8"',
    'application/json, text/plain',
  ].map((type) => ({ 'Content-Type': type })),
  ...['application/x-www-form-urlencoded', 'application/problem+json', 'multipart/form-data; boundary="', '\u00ff'].map(
    (type) => ({ 'Content-Type': type }),
  ),
  ...['gzip', 'br', 'x', 'identity', 'gzip, gzip', ''].map((coding) => ({ 'Content-Encoding': coding })),
  ...['', ' ', 'x'.repeat(300), '\u00ff', 'a,b', '"'].map((key) => ({ 'Idempotency-Key': key })),
  ...['-1', 'x', 'room_x:0', '9'.repeat(40), '0', '1.5', '', '\u00ff'].map((id) => ({ 'Last-Event-ID': id })),
  ...['-1', '1e3', '0', '9'.repeat(20), ' ', 'x'].map((minutes) => ({ 'Cooldown-Minutes': minutes })),
  { 'Idempotency-Key': ['a', 'b'] },
  { 'Last-Event-ID': ['1', '2'] },
  { 'Content-Type': ['application/json', 'text/plain'] },
  { 'Concurrency-Key': '\u00ff' },
  { 'X-API-Key': 'tl_test_nobody00000000000000000' },
  { 'X-API-Key': '' },
  { 'X-API-Key': '\u00ff'.repeat(200) },
  { 'X-API-Key': ['a', 'b'] },
  { Authorization: 'Bearer x' },
  { Expect: '100-continue' },
  { Expect: 'x' },
  { Accept: 'text/html' },
  { 'Accept-Encoding': '*;q=0' },
  { Range: 'bytes=0-' },
  { 'If-Match': '*' },
  { 'If-None-Match': '*' },
  { 'If-Modified-Since': 'x' },
  { Upgrade: 'websocket', Connection: 'Upgrade' },
  { Connection: 'close, x' },
  { Host: 'a b' },
  { Host: '' },
  { Cookie: 'a=b; '.repeat(1000) },
  { 'X-Forwarded-For': "' or 1=1, ::1" },
  { 'X-Request-Id': '\u00ff\t' },
  { Traceparent: '00-0-0-0' },
  { Origin: 'https://evil.invalid', 'Access-Control-Request-Method': 'DELETE' },
  { 'X-HTTP-Method-Override': 'DELETE' },
);
const hostilePaths = fc.constantFrom(
  ...['%00', '%ff', '..%2f..', '%2e%2e', 'a'.repeat(2000), '%zz', '<cmp:0>x', "'", '%F0%9F%99%82', '0', '', '.', '..'],
  ...[
    '<cmp:0>',
    '<list:0>',
    '<run:0>',
    '%2B14155550100',
    '+14155550100',
    '%20',
    '<cmp:0>%00',
    '%ED%A0%80',
    'x;y=1',
    '\\',
  ],
  ...[
    '__proto__',
    'constructor',
    '*',
    ':id',
    '{id}',
    '%25',
    '%',
    '<cmp:0>/',
    '//',
    '%2F',
    'cmp_',
    `cmp_${'0'.repeat(32)}`,
  ],
);
/** `*` stands for a parameter of the operation. */
const hostileQueries = fc.constantFrom(
  ...[
    'page=-1',
    'page=1&page=2',
    'perPage=1e3',
    'cursor=x',
    '%00=1',
    'a[b]=1',
    '__proto__=1',
    'order=%ff',
    '&&&=',
    '?',
  ],
  ...[
    'searchText=%00',
    `searchText=${'%25'.repeat(200)}`,
    'x=1',
    '*',
    '*=',
    '*=%00',
    '*=%ED%A0%80',
    '*=a&*=b',
    '*[]=a',
  ],
  ...['*[a]=b', '*=a,b', '*=%2C', '*=+', '*=%', '*=null', '*=[]', '*=%7B%7D', '*=-1', '*=1.0', '*=0x10', '*=1e1', '*'],
  ...['*=9999999999999999', '*=2026-02-30', '*=0000-01-01T00:00:00Z', '*=9999-12-31T23:59:59-23:59', '*=true', '*=*'],
  ...[
    '*=%00&*=a',
    `*=${'a'.repeat(8000)}`,
    `${'*=a&'.repeat(300)}`,
    'page=1000000',
    'page=1000000&perPage=100',
    'utm_x=1',
  ],
  ...[
    'page=9007199254740993',
    'searchText=%F0%9F%99%82',
    'searchText=%5C',
    'searchText=_%25',
    'streamToken=x',
    '*=a;b=c',
  ],
);

/** What a cursor could hold that no page has made: what was asked, and where the page before ended. */
const forgedCursors = fc
  .tuple(
    fc.constantFrom<unknown>(
      { perPage: '20', order: 'desc' },
      {},
      [],
      { order: 'x' },
      { cursor: 'x' },
      { page: '1' },
      null,
    ),
    fc.oneof(
      fc.constantFrom<unknown>(
        ...[[], [1], [2, 5], [2, 5, 'x', 'y'], [2, 5, '2026-11-20T09:00:00Z', '\0'], [2, 5, 'infinity', 'x']],
        ...[[2, 5, '', ''], [2, 5, 1e308, 'x'], [2, 2 ** 53, 'x'], [-1, 5, 'x'], [1, 1, 'x'.repeat(3000), 'y'], null],
        ...[
          [2, 5, '2026-11-20T09:00:00Z', '01932f3c-8a7e-7bd0-a1b2-c3d4e5f60718'],
          [2, 5, '294276-12-31', 'x'],
          [2, 5, 1],
        ],
        ...[
          [2, 5, 14155550100],
          [2, 5, -1, -1],
          [2, 5, 1e30],
          [2, 5, '\ud800', 'x'],
          [2, 5, 0.5],
          [2, 5, '4713-01-01 BC', 1],
        ],
      ),
      fc.tuple(fc.constant(2), fc.constant(5), junk, junk),
    ),
  )
  .map((held) => `cursor=<forged:${Buffer.from(JSON.stringify(held)).toString('base64url')}>`);

/** Right requests with one fault. */
export function nearlyValid(valid: fc.Arbitrary<FuzzRequest>): fc.Arbitrary<FuzzRequest> {
  return fc.tuple(valid, damage, fc.boolean()).map(([request, harm, inBody]): FuzzRequest => {
    const { body, headers, path } = request;
    const isJson = headers['Content-Type'] === 'application/json';
    if (isJson && (inBody || !path.includes('<')))
      return { ...request, isValid: false, body: damagedJson(body!, harm) };
    const query = new URLSearchParams(path.split('?')[1]);
    const names = [...query.keys()];
    const name = names[harm.at % Math.max(1, names.length)] ?? 'page';
    const wrong = `${name}=${inUrl(harm.value)}`;
    if (harm.kind === 'add' || names.length > 0)
      return { ...request, isValid: false, path: `${path.split('?')[0]}?${wrong}` };
    const segments = path.split('/');
    segments[segments.length - 1 - (harm.at % 2)] = inUrl(harm.value) || 'x';
    return { ...request, isValid: false, path: segments.join('/') };
  });
}

/**
 * What is sent by people who mean no good.
 * @param queried names of the parameters that the operation takes in its query
 */
export function hostile(valid: fc.Arbitrary<FuzzRequest>, queried: string[]): fc.Arbitrary<FuzzRequest> {
  const with_ = <T>(value: fc.Arbitrary<T>, change: (request: FuzzRequest, value: T) => Partial<FuzzRequest>) =>
    fc
      .tuple(valid, value)
      .map(([request, each]): FuzzRequest => ({ ...request, isValid: false, ...change(request, each) }));
  const asJson = ({ headers }: FuzzRequest) => ({ 'Content-Type': 'application/json', ...headers });
  const name = queried.length > 0 ? fc.constantFrom(...queried) : fc.constant('page');
  const queries = fc.tuple(hostileQueries, name).map(([query, each]) => query.replaceAll('*', each));
  return fc.oneof(
    with_(hostileBodies, (request, body) => ({ body, headers: asJson(request) })),
    with_(hostileBytes, (request, body) => ({ body, isBinary: true, headers: asJson(request) })),
    with_(oddParts, ({ headers }, body) => ({
      body,
      headers: { ...headers, 'Content-Type': 'multipart/form-data; boundary=x' },
    })),
    with_(hostileHeaders, ({ headers }, more) => ({ headers: { ...headers, ...more } })),
    with_(hostilePaths, ({ path }, segment) => {
      const segments = path.split('?')[0]!.split('/');
      const ids = [...segments.keys()].filter((at) => segments[at]!.includes('<'));
      segments[ids.at(-1) ?? segments.length - 1] = segment;
      return { path: segments.join('/') };
    }),
    with_(queries, ({ path }, query) => ({ path: `${path.split('?')[0]}?${query}` })),
    with_(harms, (_, harm) => ({ harm, copies: 1 })),
    with_(forgedCursors, ({ path }, query) => ({ path: `${path.split('?')[0]}?${query}` })),
    with_(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'),
      (_, method) => ({ method }),
    ),
  );
}
