import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chances } from '../../apps/server/test/chances.ts';
import { freePort } from '../../packages/sip/test/peers/peer-process.ts';
import { type Bundle, bundleContract, type Contract, examplesOf, here, operationsOf } from './bundle.ts';
import { RELEASED } from './released.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface Answer {
  key: string;
  status: string;
  schema: object;
  example: Json;
}

const SEED = 27;
const ANSWERS = 1000;
const MORE = 'fromTomorrow';
const VALUE = 'of_tomorrow';
const chance = chances(SEED);
const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(chance() * values.length)]!;
const isObject = (value: Json): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleContract();
});
afterAll(() => bundle.remove());

/** The examples of all answers in JSON, with their schemas. */
function answersOf(contract: Contract): Answer[] {
  const resolved = <T extends { $ref?: string }>(value: T): T =>
    value.$ref
      ? (value.$ref
          .slice(2)
          .split('/')
          .reduce((found, key) => (found as never)[key], contract as unknown) as T)
      : value;
  return operationsOf(contract).flatMap(({ method, path, operation }) =>
    Object.entries(operation.responses).flatMap(([status, part]) => {
      const media = resolved(part).content?.['application/json'] as { schema: object } | undefined;
      const key = `${method} ${path}`;
      return media
        ? examplesOf(media).map((example) => ({ key, status, schema: media.schema, example: example as Json }))
        : [];
    }),
  );
}

/** What judges answers by a contract: the faults of one. */
function judgeOf(contract: Contract) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ ...contract, $id: 'contract' });
  const known = new Map<string, ReturnType<typeof ajv.compile>>();
  return (schema: object, value: Json) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"contract#/');
    const check = known.get(text) ?? ajv.compile(JSON.parse(text));
    known.set(text, check);
    return check(value) ? [] : check.errors!;
  };
}

/** A copy with something else at each place, by what stands there. */
function changed(value: Json, change: (value: Json, at: string) => Json, at = ''): Json {
  const inside = Array.isArray(value)
    ? value.map((each, index) => changed(each, change, `${at}/${index}`))
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each, change, `${at}/${key}`)]))
      : value;
  return change(inside, at);
}

const withField = (value: Json): Json => (isObject(value) ? { ...value, [MORE]: { a: 1 } } : value);
const withValue = (value: Json): Json => (typeof value === 'string' ? VALUE : value);

/** Where a later server may say more: by what the closed contract has against it. */
function roomIn(closed: ReturnType<typeof judgeOf>, { schema, example }: Answer) {
  const faults = closed(schema, changed(example, withField));
  const fields = faults.filter(
    ({ params }) => params['additionalProperty'] === MORE || params['unevaluatedProperty'] === MORE,
  );
  const values = closed(schema, changed(example, withValue)).filter(({ keyword }) => keyword === 'enum');
  const placesOf = (found: typeof faults) => [...new Set(found.map(({ instancePath }) => instancePath))];
  return { fields: placesOf(fields), values: placesOf(values) };
}

/** Answers of a server of tomorrow: each has a field and, where it has one of a closed list, a value that nobody knows. */
function widened(): Answer[] {
  const closed = judgeOf(bundle.closed);
  // Errors are of one shape: those of a few operations stand for all.
  const isSeen = ({ status }: Answer, at: number) => status.startsWith('2') || at % 10 === 0;
  const written = answersOf(bundle.closed).filter(isSeen);
  const published = answersOf(bundle.contract).filter(isSeen);
  const rooms = written.map((answer) => roomIn(closed, answer));
  return Array.from({ length: ANSWERS }, (_, at) => {
    const index = at % written.length;
    const { fields, values } = rooms[index]!;
    const [field, value] = [oneOf(fields), oneOf(values)];
    const example = changed(published[index]!.example, (each, place) =>
      place === field ? withField(each) : place === value ? withValue(each) : each,
    );
    return { ...published[index]!, example };
  });
}

it('a validator of the released contract takes a thousand answers of a server that says more', async () => {
  const released = parse(await readFile(here(`released/${RELEASED}.yaml`), 'utf8')) as Contract;
  const open = judgeOf(released);
  const schemas = new Map(answersOf(released).map(({ key, status, schema }) => [`${key} ${status}`, schema]));
  const answers = widened();
  const texts = answers.map(({ example }) => JSON.stringify(example));
  expect(texts.filter((text) => text.includes(MORE)).length).toBe(ANSWERS);
  expect(texts.filter((text) => text.includes(VALUE)).length).toBeGreaterThan(ANSWERS / 2);
  let judged = 0;
  for (const { key, status, example } of answers) {
    const schema = schemas.get(`${key} ${status}`);
    // What is new since then has nobody who reads it strictly.
    if (!schema) continue;
    judged += 1;
    expect([key, status, open(schema, example)]).toEqual([key, status, []]);
  }
  expect(judged).toBeGreaterThan(0.75 * ANSWERS);
});

it('a proxy that checks them lets them through', async () => {
  const read = widened().filter(({ key, status }) => key.startsWith('GET /v1/') && status === '200');
  const answers = [...new Map(read.map((answer) => [answer.key, answer])).values()];
  expect(answers.length).toBeGreaterThan(40);
  const upstream = await serving((at) => answers[at]!.example);
  const { url, proxy } = await proxyTo(upstream);
  try {
    for (const [at, { key, example }] of answers.entries()) {
      const response = await fetch(url + requestOf(key), { headers: { 'X-API-Key': 'tl_test', 'X-At': String(at) } });
      expect([key, response.headers.get('sl-violations')]).toEqual([key, null]);
      expect([key, response.status, await response.json()]).toEqual([key, 200, example]);
    }
  } finally {
    proxy.kill();
    upstream.close();
  }
});

/** The path of an operation, with the examples of what it needs. */
function requestOf(key: string): string {
  const { path, item, operation } = operationsOf(bundle.contract).find(
    (each) => `${each.method} ${each.path}` === key,
  )!;
  const query = new URLSearchParams();
  let at = path;
  for (const parameter of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(bundle.resolved)) {
    const value = String(examplesOf(parameter)[0]);
    if (parameter.in === 'path') at = at.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (parameter.in === 'query' && parameter.required) query.set(parameter.name, value);
  }
  return query.size > 0 ? `${at}?${query}` : at;
}

/** A server that answers what a request names by its number. */
async function serving(answerTo: (at: number) => Json): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('X-Request-Id', '0'.repeat(32));
    response.setHeader('ETag', '"1"');
    response.end(JSON.stringify(answerTo(Number(request.headers['x-at'] ?? 0))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A proxy that checks answers. It knows the reads alone, so that it starts sooner. */
async function proxyTo(upstream: Server): Promise<{ url: string; proxy: ChildProcess }> {
  const reads = Object.entries(bundle.contract.paths).filter(([, item]) => item['get']);
  const paths = Object.fromEntries(reads.map(([path, { parameters, get }]) => [path, { parameters, get }]));
  const contract = join(bundle.folder, 'reads.json');
  await writeFile(contract, JSON.stringify({ ...bundle.contract, paths, webhooks: undefined }));
  const port = await freePort();
  const { port: behind } = upstream.address() as { port: number };
  const args = [
    'proxy',
    contract,
    `http://127.0.0.1:${behind}`,
    '--port',
    String(port),
    '--host',
    '127.0.0.1',
    '--errors',
  ];
  const proxy = spawn(here('node_modules/.bin/prism'), args, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 300; tries += 1) {
    if (await fetch(url).catch(() => undefined)) return { url, proxy };
    await sleep(100);
  }
  proxy.kill();
  throw new Error('prism did not start');
}
