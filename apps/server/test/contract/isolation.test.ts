import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { type ContractOperation, type Operation, operationsOf } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { type IdPrefix, newUuid, toId } from '../../src/foundation/values/ids.ts';
import { keyWith } from '../platform/api-keys/keys.ts';
import { startTestServer, type TestServer, withoutRequestId } from '../server.ts';
import { exampleRequest } from './example-request.ts';
import { buildWorld, type World } from './world.ts';

const document = forValidator(loadContract());
const operations = operationsOf(document);

/** An ID, or the number that calls are made from: what can be another workspace's. */
const NAME = /\b(?:[a-z]+_[0-9a-f]{32}|\+[1-9]\d{6,14})\b|\+[1-9]\d{6,14}/g;
const UNKNOWN_NUMBER = '+14155559999';

let server: TestServer;
let ours: World;
let theirs: World;

beforeAll(async () => {
  // Real time: the calls last until they are ended.
  server = await startTestServer({ config: { simulatorSpeed: 1 } });
  const feed = { body: { eventFeed: true } };
  await server.client.PATCH('/v1/workspace', feed);
  ours = await buildWorld(server, { from: '+14155550200', to: ['+14155550100', '+14155550117'] });
  const apiKey = await keyWith(server, { permissions: ['*'], workspace: 'Another' });
  const another = { ...server, apiKey, client: server.clientOf(apiKey) };
  await another.client.PATCH('/v1/workspace', feed);
  theirs = await buildWorld(another, { from: '+14155550201', to: ['+14165550100', '+14165550117'] });
});
afterAll(() => server.stop());

interface Place {
  name: string;
  /** `pn`, `list` …; `number` for a number that calls are made from. */
  kind: string;
  /** The request with one name at the place, and ours at all others. */
  request: (name: string) => { path: string; init: RequestInit };
}

const newId = (prefix: string) => toId(prefix as IdPrefix, newUuid());
const prefixOf = (id: string) => id.slice(0, id.indexOf('_'));

/** Everywhere in the requests of an operation where another workspace's resource could be named. */
function placesOf(operation: Operation): Place[] {
  const [method, examplePath, { body, headers }] = exampleRequest(document, operation);
  const { requestBody } = document.paths[operation.path]![operation.method.toLowerCase()] as ContractOperation;
  const content = requestBody?.content['application/json'] as { examples?: Record<string, { value: object }> };
  const bodies = content
    ? Object.entries(content.examples ?? {}).map(([at, { value }]) => [at, JSON.stringify(value)])
    : [];
  const raw = typeof body === 'string' ? body : undefined;
  const init = (text = bodies[0]?.[1] ?? raw): RequestInit => ({
    method,
    headers: {
      'X-API-Key': ours.server.apiKey,
      ...(text !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(text !== undefined && { body: withOurs(text) }),
  });
  const found: Place[] = [];
  for (const { id, at } of namesIn(examplePath)) {
    const request = (name: string) => ({ path: withOurs(examplePath, { at, name }), init: init() });
    found.push({ name: `${id} in the path`, kind: prefixOf(id), request });
  }
  for (const { name: parameter, in: place, ...rest } of operation.parameters) {
    const example = String((rest as { example?: unknown }).example);
    if (place !== 'query' || !/^[a-z]+_[0-9a-f]{32}$/.test(example)) continue;
    const path = (name: string) => `${withOurs(examplePath)}?${parameter}=${name}`;
    found.push({
      name: `${parameter} in the query`,
      kind: prefixOf(example),
      request: (name) => ({ path: path(name), init: init() }),
    });
  }
  for (const [example, text] of bodies as [string, string][]) {
    for (const { id, at, property } of namesIn(text)) {
      const kind = property === 'fromNumber' ? 'number' : prefixOf(id);
      if (id.startsWith('+') && kind !== 'number') continue;
      const request = (name: string) => ({
        path: withOurs(examplePath),
        init: { ...init(text), body: withOurs(text, { at, name }) },
      });
      found.push({ name: `${property} in the body "${example}"`, kind, request });
    }
  }
  return found;
}

function namesIn(text: string) {
  return [...text.matchAll(NAME)].map((match) => ({
    id: match[0],
    at: match.index,
    property: /"(\w+)":\[?"$/.exec(text.slice(0, match.index))?.[1] ?? '',
  }));
}

/** A text of the contract's examples with our own names in it, but for one place. */
function withOurs(text: string, other?: { at: number; name: string }): string {
  return text.replaceAll(NAME, (id, at: number) => {
    if (other?.at === at) return other.name;
    if (id.startsWith('+')) return text.slice(0, at).endsWith('"fromNumber":"') ? ours.fromNumber : id;
    return ours.idOf.get(prefixOf(id)) ?? id;
  });
}

async function answerTo({ path, init }: ReturnType<Place['request']>, named: string) {
  const response = await fetch(server.url + path, init);
  const isJson = response.headers.get('content-type')?.includes('json');
  const text = isJson ? await response.text() : '';
  // A stream would never end.
  if (!isJson) await response.body?.cancel();
  return { status: response.status, text: withoutRequestId(text).replaceAll(named, '<name>') };
}

const trailOf = async ({ server: { client } }: World) =>
  (await client.GET('/v1/audit-log', { params: { query: { includeTotal: true } } })).data!.data.totalCount!;

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  test("answers another workspace's resource like one that never was, and changes nothing", async () => {
    const trail = await trailOf(theirs);
    for (const { name, kind, request } of placesOf(operation)) {
      const [alien, unknown] =
        kind === 'number' ? [theirs.fromNumber, UNKNOWN_NUMBER] : [theirs.idOf.get(kind), newId(kind)];
      expect(alien, `the other workspace has no ${kind}_`).toBeDefined();
      const [notOurs, notThere] = [
        await answerTo(request(alien!), alien!),
        await answerTo(request(unknown!), unknown!),
      ];
      expect(notOurs.status, `${name}: ${notOurs.text}`).toBe(notThere.status);
      if (notOurs.status >= 400) expect(notOurs.text, name).toBe(notThere.text);
      expect([...operation.statuses.keys()], name).toContain(notOurs.status);
      if (name.endsWith('in the path')) expect(notOurs.status, name).toBe(404);
      if (name.endsWith('in the query') && notOurs.text !== '') {
        const answer = JSON.parse(notOurs.text);
        expect((answer.data ?? answer).items, name).toEqual([]);
      }
    }
    expect(await trailOf(theirs)).toBe(trail);
  });

  test('refuses an ID of another kind', async () => {
    for (const { name, kind, request } of placesOf(operation)) {
      // The audit log is filtered by resources of any kind.
      if (kind === 'number' || name === 'resourceId in the query') continue;
      const wrong = newId(kind === 'ws' ? 'pn' : 'ws');
      const { status } = await answerTo(request(wrong), wrong);
      expect(status, name).toBe(400);
    }
  });
});
