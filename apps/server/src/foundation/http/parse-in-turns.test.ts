import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServiceError } from '../values/service-error.ts';
import { createLoopShare } from './loop-share.ts';
import { createLargeBodies, type LargeBody, parseInTurns } from './parse-in-turns.ts';

const any: LargeBody = {
  ...{ maxValues: 1_000_000, known: undefined, judged: new Set<string>(), mostItems: new Map(), exactly: false },
  tooManyItems: (list, most) => new ServiceError('invalid_request', `${list} has more than ${most}`),
};
const parse = (text: string, asked: Partial<LargeBody> = {}) =>
  parseInTurns(Buffer.from(text), { ...any, ...asked }, () => nextTurn());
const refusal = async (text: string, asked?: Partial<LargeBody>) => {
  const error = await parse(text, asked).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ServiceError ? error.message : (error as Error | undefined)?.constructor.name;
};

const texts = [
  'null',
  ' true ',
  '[]',
  '{}',
  '\n{ "a" : [ 1 , -0 , 1.5e3, 0.25E-2 ] ,\t"b":{"c":[[],{}]}, "":"" }\r\n',
  '{"a":1,"b":2,"a":{"again":true},"7":1,"3":2}',
  '["a long text with \\"quotes\\", a \\\\ and \\u00e9 \\ud83d\\ude00 in it", "é😀", "short", "\\n"]',
  `[${'"text",'.repeat(3000)}"last"]`,
  `["${'x'.repeat(700_000)}"]`,
];

test.each(texts)('what is JSON comes to what JSON.parse makes of it: %.40s', async (text) => {
  const { body } = await parse(text);
  expect(body).toEqual(JSON.parse(text));
  expect(JSON.stringify(body)).toBe(JSON.stringify(JSON.parse(text)));
});

test.each([
  '',
  ' ',
  'nul',
  'NaN',
  '01',
  '1.',
  '.5',
  '+1',
  '1e',
  '-',
  '0x10',
  '"open',
  '"tab\t"',
  '"\\x"',
  '"\\u12"',
  "'a'",
  '[',
  '[1',
  '[1,]',
  '[1 2]',
  '[1}',
  ']',
  '{',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,}',
  '{a:1}',
  '{"a" 1}',
  '{"a":1]',
  '{,}',
  '1 2',
  '{} x',
  '\u00a01',
])('what JSON.parse refuses is refused: %s', async (text) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(await refusal(text)).toBe('SyntaxError');
});

test('a property that the contract does not know is the end: nothing behind it is read', async () => {
  const known = new Set(['name']);
  expect(await refusal('{"name":{"any":1},"a/b":1, this is no JSON', { known })).toBe(
    'body/a~1b is not a known property',
  );
  expect(await refusal(`{${'"name":1,'.repeat(5000)}"x":1}`, { known })).toBe('body/x is not a known property');
});

test.each<[string, string, Partial<LargeBody>]>([
  ['[[[]]]'.replaceAll('[[[', '['.repeat(33)), 'body must nest at most 32 levels deep', {}],
  ['[1,2,3,', 'body must hold at most 3 values', { maxValues: 3 }],
  [
    `{${Array.from({ length: 33_000 }, (_, at) => `"k${at}":1`).join()}, no JSON`,
    'body must have at most 32768 different names of properties',
    {},
  ],
  [`["${'x'.repeat(2_200_000)}`, 'body must hold no text of over 2097152 bytes', {}],
  ['{"a":{"__proto__":1}, no JSON', 'body must not have a property __proto__', {}],
  ['["a\\u0000", no JSON', 'body must not contain NUL', {}],
  [
    '[1e400, no JSON',
    "body must hold no number that JSON can't carry exactly, such as 1e400: send it as text",
    { exactly: true },
  ],
  ['{"b":[1,2,3],"a":[[1,2,3],2,3, no JSON', 'a has more than 2', { mostItems: new Map([['a', 2]]) }],
])('the first fault is the end: %.40s', async (text, message, asked) => {
  expect(await refusal(text, asked)).toBe(message);
});

const source = Buffer.from(
  '{"a":[1.5e-3,-0,"é😀\\u00e9\\n",true,null,""],"b ":{"c":12345678901234567890,"__proto":[[{}]]}}',
);
const changes = fc.array(
  fc.tuple(fc.nat(source.length - 1), fc.oneof(fc.constantFrom(...Buffer.from('"\\,:[]{}019.-eE tn\0')), fc.nat(255))),
  { minLength: 1, maxLength: 3 },
);

test('bytes that are changed at random come to what JSON.parse makes of their text', async () => {
  let same = 0;
  const asked = { ...any, judged: new Set(['a', 'b ']) };
  const isAlike = fc.asyncProperty(changes, fc.option(fc.nat(source.length)), async (changed, end) => {
    const bytes = Buffer.from(source);
    for (const [at, byte] of changed) bytes[at] = byte;
    const cut = bytes.subarray(0, end ?? bytes.length);
    const found = await parseInTurns(cut, asked, () => nextTurn()).then(({ body }) => JSON.stringify(body), asFault);
    expect(await begins(cut)).toSatisfy((fault) => fault === undefined || fault === found);
    if (found === 'refused') return;
    expect(found).toBe(jsonOf(cut));
    if (found !== 'no JSON') same += 1;
  });
  await fc.assert(isAlike, { numRuns: 10_000, seed: 7 });
  expect(same).toBeGreaterThan(50);
});

test('what has come of a body is refused for what all of it is refused for, and for nothing else', async () => {
  const whole = '{"a":[1.5e-3,-0,"é😀\\u00e9\\n",true,false,null,""],"b":{"c":123456789012345}}';
  const exactly = { ...any, exactly: true };
  for (let end = 0; end <= Buffer.byteLength(whole); end += 1)
    expect(await begins(Buffer.from(whole).subarray(0, end), exactly)).toBeUndefined();
  const faulty = Buffer.from('{"a":1,"b":tru e,"c":1}');
  const faults = await Promise.all(Array.from(faulty, (_, at) => begins(faulty.subarray(0, at))));
  expect(faults.indexOf('no JSON')).toBeLessThan(faulty.length - 1);
});

const largeBodies = createLargeBodies(() => nextTurn());
/** What is found of a fault in the beginning of a body. */
const begins = (bytes: Uint8Array, asked = any) =>
  largeBodies.checkBeginning('w', bytes, asked).then(() => undefined, asFault);

const asFault = (error: unknown) => (error instanceof ServiceError ? 'refused' : 'no JSON');

function jsonOf(bytes: Uint8Array): string {
  try {
    return JSON.stringify(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return 'no JSON';
  }
}

test('what is no UTF-8 is refused, and a byte order mark is one before all else only', async () => {
  const any8 = (...bytes: number[]) =>
    parseInTurns(Buffer.from([0x5b, 0x22, ...bytes, 0x22, 0x5d]), any, () => nextTurn()).then(({ body }) => body);
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x5c, 0x6e, 0xc0, 0x80]])
    await expect(any8(...bytes)).rejects.toThrow(TypeError);
  expect(await any8(...Buffer.from('\ufeffé'))).toEqual(['\ufeffé']);
  expect((await parse('\ufeff[1]')).body).toEqual([1]);
  expect(await refusal('[\ufeff1]')).toBe('SyntaxError');
});

test('what is judged item by item is only counted', async () => {
  const asked = { judged: new Set(['items']), known: new Set(['items', 'name']) };
  const { body, values } = await parse('{"items":[{"__proto__":"a\\u0000","x":[1]}],"name":"b"}', asked);
  expect(JSON.stringify(body)).toBe('{"items":[{"__proto__":"a\\u0000","x":[1]}],"name":"b"}');
  expect(values).toBe(7);
  expect(await refusal('{"name":"a\\u0000"}', asked)).toBe('body must not contain NUL');
});

test('others have their turns meanwhile', async () => {
  let turns = 0;
  let isOver = false;
  const parsed = parse(`[${'1,'.repeat(20_000)}"${'x'.repeat(1_000_000)}",1]`).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    turns += 1;
  }
  await parsed;
  expect(turns).toBeGreaterThanOrEqual(20);
});

test('a workspace that sends many large bodies waits for itself', async () => {
  const large = createLargeBodies(() => nextTurn());
  const order: string[] = [];
  const send = async (workspaceId: string, values: number) => {
    await large.parse(workspaceId, Buffer.from(`[${'1,'.repeat(values)}1]`), any, false);
    order.push(workspaceId);
  };
  await Promise.all([send('busy', 30_000), send('busy', 5_000), send('busy', 5_000), send('quiet', 20_000)]);
  expect(order).toEqual(['quiet', 'busy', 'busy', 'busy']);
});

test('the large bodies of a workspace have a quarter of the event loop, once they have had half a second of it', async () => {
  const timeOf = async (work: Promise<void>) => {
    const from = performance.now();
    await work;
    return performance.now() - from;
  };
  const share = createLoopShare();
  expect(await timeOf(share('busy', 525))).toBeGreaterThan(98);
  expect(await timeOf(share('quiet', 10))).toBeLessThan(98);

  const had: number[] = [];
  const large = createLargeBodies(async (_, ms) => {
    had.push(ms);
  });
  await large.parse('busy', Buffer.from(`[${'1,'.repeat(30_000)}1]`), any, true);
  expect(had.length).toBeGreaterThan(40);
  expect(Math.max(...had)).toBeGreaterThan(0);
});
