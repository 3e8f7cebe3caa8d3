import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { loadContract } from '../../../src/foundation/http/app.ts';
import { createBodyRoom } from '../../../src/foundation/http/body-room.ts';
import { type ContractDocument, operationsOf } from '../../../src/foundation/http/contract.ts';
import type { FilePart } from '../../../src/foundation/http/handler.ts';
import { createLargeBodies } from '../../../src/foundation/http/parse-in-turns.ts';
import { createRequestReader } from '../../../src/foundation/http/read-request.ts';
import { createBodyReader } from '../../../src/foundation/http/request-body.ts';
import { createValidator } from '../../../src/foundation/http/validator.ts';
import { forValidator } from '../../../src/foundation/http/validator-contract.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { isTimestamp } from '../../../src/foundation/values/timestamp.ts';
import { contractOf, jsonOf, startEdge } from './edge-app.ts';

const at = { type: ['string', 'null'], format: 'date-time' };
const thing = { type: 'object', additionalProperties: false, required: ['at'], properties: { at } };

test('an answer that breaks the contract is 500 in tests, and sent, logged and counted otherwise', async () => {
  const contract = contractOf({ responses: { 200: jsonOf(thing) } });
  const handlers = { act: async () => ({ status: 200, body: { at: 'yesterday' } }) };
  const strict = await startEdge({ contract, handlers });
  const refused = await strict.send('POST', '/v1/things');
  expect([refused.status, refused.body.error]).toEqual([500, expect.stringContaining('must match format "date-time"')]);
  await strict.stop();

  const lenient = await startEdge({ contract, handlers, validateResponses: 'all' });
  const sent = await lenient.send('POST', '/v1/things');
  expect([sent.status, sent.body]).toEqual([200, { at: 'yesterday' }]);
  expect(lenient.logged).toContainEqual(
    expect.objectContaining({ operation: 'act', msg: 'an answer breaks the contract' }),
  );
  const metrics = (await lenient.send('GET', '/metrics')).text;
  expect(metrics).toContain('trunkline_http_response_violations_total{operation="act"} 1');
  await lenient.stop();
});

test('a start compiles no schema: that of a request is, once one comes', async () => {
  const compiled = vi.spyOn(globalThis, 'Function');
  const validator = await createValidator(forValidator(loadContract()));
  expect(compiled).not.toHaveBeenCalled();
  const operation = validator.operations.find(({ id }) => id === 'listCampaigns')!;
  await validator.request(operation, { params: {}, query: {}, headers: {}, body: undefined, values: 0 });
  expect(compiled).toHaveBeenCalled();
  compiled.mockRestore();
});

test('of an operation a sample of answers is checked, and every error', async () => {
  const contract = contractOf({ responses: { 200: jsonOf(thing), 409: jsonOf(thing) } });
  let answer: { status: number; body: object } = { status: 200, body: { at: null } };
  const edge = await startEdge({ contract, handlers: { act: async () => answer }, validateResponses: 'sampled' });
  const send = async (times: number, status = 200) => {
    answer = { status, body: { at: 'yesterday' } };
    for (let sent = 0; sent < times; sent += 1) await edge.send('POST', '/v1/things');
    return edge.logged.splice(0).length;
  };
  expect(await send(100)).toBe(100);
  expect(await send(200)).toBe(2);
  expect(await send(5, 409)).toBe(5);
  await edge.stop();

  const unchecked = await startEdge({ contract, handlers: { act: async () => answer }, validateResponses: 'off' });
  for (const status of [200, 409]) {
    answer = { status, body: { at: 'yesterday' } };
    expect((await unchecked.send('POST', '/v1/things')).status).toBe(status);
  }
  expect(unchecked.logged).toEqual([]);
  await unchecked.stop();
});

test('a Date in an answer is a violation, also where null may stand; its ISO text is not', async () => {
  let body: unknown;
  const handlers = { act: async () => ({ status: 200, body }) };
  const edge = await startEdge({ contract: contractOf({ responses: { 200: jsonOf(thing) } }), handlers });
  for (const [value, status] of [
    [new Date(), 500],
    [new Date().toISOString(), 200],
    [null, 200],
  ] as const) {
    body = { at: value };
    expect((await edge.send('POST', '/v1/things')).status).toBe(status);
  }
  await edge.stop();
});

test('a status or a code that is not declared is a violation, also from 500 up', async () => {
  const declared = { ...jsonOf({ type: 'object' }), 'x-error-codes': ['not_found'] };
  const validator = await createValidator(forValidator(contractOf({ responses: { 404: declared } }) as never));
  const operation = validator.operations[0]!;
  const failure = (code: string) => ({ code, error: 'x' });
  expect(validator.response(operation, 404, failure('not_found'))).toBeUndefined();
  expect(validator.response(operation, 404, failure('forbidden'))).toBe('code forbidden is not declared for act 404');
  expect(validator.response(operation, 502, failure('provider_error'))).toBe('status 502 is not declared for act');
  expect(validator.response(operation, 500, failure('internal_error'))).toBeUndefined();
});

test('the validator sees of a content type only what the contract knows', async () => {
  const requestBody = { required: false, content: { 'application/json': { schema: { type: 'object' } } } };
  const contract = forValidator(contractOf({ requestBody }) as never);
  const reader = createRequestReader(
    operationsOf(contract)[0]!,
    1024,
    createBodyReader(createBodyRoom()),
    createLargeBodies(),
    [],
  );
  const read = (type: string) => {
    const headers = { 'content-type': type, 'content-length': '2' };
    const request = Object.assign(Readable.from([Buffer.from('{}')]), { headers });
    return reader.read({ request, keyId: 'key', room: 0 } as never, {}, '');
  };
  for (const type of ['application/json', 'application/json; a=1', 'APPLICATION/JSON;b="2"'])
    expect((await read(type)).headers).toEqual({ 'content-type': 'application/json' });
  for (const type of ['a/b', 'a/c; d=e'])
    await expect(read(type)).rejects.toMatchObject({ code: 'unsupported_media_type' });
});

test('a body that is not required may be left out', async () => {
  const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
  const handlers = { act: async () => ({ status: 200, body: {} }) };
  const edge = await startEdge({ contract: contractOf({ requestBody }), handlers });
  expect((await edge.send('POST', '/v1/things')).status).toBe(200);
  expect((await edge.send('POST', '/v1/things', { body: {} })).status).toBe(200);
  await edge.stop();
});

test('a discriminator with a mapping is no 500, and its faults are placed in the body', async () => {
  const kind = (name: string) => ({
    type: 'object',
    required: ['kind', 'query'],
    properties: { kind: { const: name }, query: { type: 'integer' } },
  });
  const refs = ['A', 'B'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const mapping = { a: refs[0]!.$ref, b: refs[1]!.$ref };
  const schema = { oneOf: refs, discriminator: { propertyName: 'kind', mapping } };
  const components = { schemas: { A: kind('a'), B: kind('b') } };
  const edge = await startEdge({
    contract: contractOf({ requestBody: jsonOf(schema) }, { components }),
    handlers: { act: async () => ({ status: 200, body: {} }) },
  });
  expect((await edge.send('POST', '/v1/things', { body: { kind: 'b', query: 1 } })).status).toBe(200);
  for (const body of [{ kind: 'b', query: 'x' }, { kind: 'c' }, {}, 1]) {
    const answer = await edge.send('POST', '/v1/things', { body });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    for (const { path } of answer.body.details) expect(path).toMatch(/^\/body(\/|$)/);
  }
  await edge.stop();
});

test('lists in a query are parsed, in the first request and after it', async () => {
  const schema = { type: 'array', items: { type: 'integer' } };
  const parameters = [
    { name: 'n', in: 'query', explode: false, schema },
    { name: 'q', in: 'query', schema: { type: 'string' } },
  ];
  const seen: unknown[] = [];
  const edge = await startEdge({
    contract: contractOf({ parameters }, { method: 'get' }),
    handlers: {
      act: async ({ query }: { query: unknown }) => {
        seen.push(query);
        return { status: 200, body: {} };
      },
    },
  });
  for (let count = 0; count < 3; count += 1) await edge.send('GET', '/v1/things?n=1,2&q=a,b');
  expect(seen).toEqual(Array.from({ length: 3 }, () => ({ n: [1, 2], q: 'a,b' })));
  await edge.stop();
});

test('a multipart body comes to the handler file by file', async () => {
  const requestBody = { required: true, content: { 'multipart/form-data': { schema: { properties: { files: {} } } } } };
  const act = async ({ body }: { body: AsyncIterable<FilePart> }) => {
    const files: unknown[] = [];
    for await (const { name, fileName, content } of body) files.push([name, fileName, (await buffer(content)).length]);
    return { status: 200, body: { files } };
  };
  const edge = await startEdge({ contract: contractOf({ requestBody }), handlers: { act } });
  const send = (body: string) =>
    edge.send('POST', '/v1/things', {
      body,
      headers: { 'Content-Type': 'Multipart/Form-Data; boundary=x; filler=1' },
    });
  const part = (name: string, content: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.txt"\r\n\r\n${content}\r\n`;
  expect((await send('--x--\r\n')).body).toEqual({ files: [] });
  const large = 'x'.repeat(3_000_000);
  const { status, body } = await send(`${part('a', '')}${part('b', large)}${part('c', 'text')}--x--\r\nepilogue`);
  expect([status, body.files]).toEqual([
    200,
    [
      ['a', 'a.txt', 0],
      ['b', 'b.txt', 3_000_000],
      ['c', 'c.txt', 4],
    ],
  ]);
  expect((await send(part('a', 'cut off'))).status).toBe(400);
  await edge.stop();
});

test('an answer that comes before a multipart body was read reaches the client', async () => {
  const requestBody = { required: true, content: { 'multipart/form-data': { schema: { properties: { files: {} } } } } };
  const act = async ({ body }: { body: AsyncIterable<FilePart> }) => {
    for await (const _ of body) throw new ServiceError('forbidden', 'Not this one.');
  };
  const edge = await startEdge({ contract: contractOf({ requestBody }), handlers: { act } });
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };
  const part = '--x\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\n';
  const body = `${part}${'x'.repeat(20_000_000)}\r\n--x--\r\n`;
  for (let time = 0; time < 3; time += 1) {
    const answer = await edge.send('POST', '/v1/things', { body, headers });
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
  }
  await edge.stop();
});

test('what a check compiles is not the whole contract that it brings along', async () => {
  const contract = forValidator(contractOf({}) as ContractDocument);
  await createValidator(contract);
  const ofValidator = createRequire(createRequire(import.meta.url).resolve('express-openapi-validator'));
  const { Ajv } = ofValidator('ajv');
  const ajv = new Ajv({ strict: false });
  ajv.addSchema({ components: { within: { $id: 'within' } }, paths: { within: { $id: 'there' } } }, 'contract');
  // Who walks it finds them.
  expect([ajv.getSchema('within'), ajv.getSchema('there')]).toEqual([undefined, undefined]);
  ajv.addSchema({ other: { $id: 'beside' } }, 'another');
  expect(ajv.getSchema('beside')).toBeDefined();
});

test('a contract that can not be served is found at start', async () => {
  await expect(startEdge({ contract: contractOf({ 'x-permission': undefined }) })).rejects.toThrow(
    'act names no x-permission',
  );
  const lost = { requestBody: jsonOf({ $ref: '#/components/schemas/Lost' }) };
  await expect(startEdge({ contract: contractOf(lost) })).rejects.toThrow('Lost');
});

test.each([
  ['2026-11-20T09:30:00.000Z', true],
  ['2026-02-28T23:59:59+05:30', true],
  ['2026-02-30T00:00:00Z', false],
  ['2026-12-31T23:59:60Z', false],
  ['2026-11-20T24:00:00Z', false],
  ['2026-11-20 09:30:00Z', false],
  ['2026-11-20T09:30:00', false],
  ['2026-13-01T00:00:00Z', false],
  ['0001-01-01T00:00:00Z', true],
  ['9999-12-31T23:59:59.999999999Z', true],
  ['9999-01-01T00:00:00+05:00', true],
  // The year 10000 in UTC, and the one before the first: told with a sign, or as another.
  ['9999-12-31T23:59:59-23:59', false],
  ['0001-01-01T00:00:00+23:59', false],
])('%s as a time: %s', (text, is) => expect(isTimestamp(text)).toBe(is));
