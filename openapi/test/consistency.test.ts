import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bundle, bundleContract, operationsOf, type Response } from './bundle.ts';

interface Shape {
  $ref?: string;
  properties?: Record<string, Shape>;
  required?: string[];
  const?: unknown;
  enum?: string[];
  allOf?: Shape[];
}

/** Where each family of paths begins, and whether its answers are wrapped; see "One rule for what is like" in the README. */
const FAMILIES: [start: RegExp, isWrapped: boolean][] = [
  [/^\/v1\/telephony\//, false],
  [/^\/v1\/calls\/campaigns\b/, true],
  [/^\/v1\/(calls|exports|erasures)\b/, false],
  [/^\/v1\/(workflows|workflow-runs|knowledge-bases|number-pools)\b/, true],
  [
    /^\/v1\/(search|people|agents|sounds|webhooks|api-keys|members|sign-ins|sessions?|stream-tokens|events|audit-log|workspace|operator)\b/,
    true,
  ],
];

/** How a resource is named in a path, if not by its own name and `Id`. */
const NAMES: Record<string, string> = {
  ...{ 'phone-numbers': 'id', 'contact-lists': 'id', campaigns: 'id', 'number-pools': 'id' },
  ...{ uploads: 'uploadID', workflows: 'workflowId', runs: 'runId', 'workflow-runs': 'runId', calls: 'roomId' },
  ...{ 'test-calls': 'roomId', 'knowledge-bases': 'kbId', documents: 'docId', 'api-keys': 'keyId' },
  ...{ 'do-not-call': 'phoneNumber', entries: 'phoneNumber', people: 'phoneNumber', 'rejected-rows': 'row' },
  providers: 'provider',
};
const nameOf = (collection: string) =>
  NAMES[collection] ?? `${collection.replace(/(?<!s)s$|(?<=h)es$|ies$/, (end) => (end === 'ies' ? 'y' : ''))}Id`;

let bundle: Bundle;
let operations: { key: string; path: string; method: string; operation: Operation; data: Shape; isWrapped: boolean }[];
type Operation = ReturnType<typeof operationsOf>[number]['operation'] & { 'x-same-as'?: string };

const whole = (shape: Shape): Shape => {
  const found = bundle.resolved(shape);
  return Object.assign({}, ...(found.allOf ?? []).map(whole), found);
};

beforeAll(async () => {
  bundle = await bundleContract();
  operations = operationsOf({ ...bundle.contract, paths: bundle.closed.paths }).flatMap(
    ({ method, path, operation }) => {
      const good = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))![1];
      const { content } = bundle.resolved(good) as Response & { content?: Record<string, { schema: Shape }> };
      const schema = content?.['application/json']?.schema;
      if (!path.startsWith('/v1/') || !schema) return [];
      const { properties = {} } = whole(schema);
      const isWrapped = 'success' in properties;
      const data = whole(isWrapped ? properties['data']! : schema);
      return [{ key: `${method} ${path}`, path, method, operation, data, isWrapped }];
    },
  );
});
afterAll(() => bundle.remove());

describe('what is like', () => {
  it('is bare or wrapped as its family is', () => {
    for (const { key, path, isWrapped } of operations) {
      const family = FAMILIES.find(([start]) => start.test(path));
      expect([key, isWrapped]).toEqual([key, family?.[1]]);
    }
  });

  it('is named once in paths', () => {
    for (const path of Object.keys(bundle.closed.paths).filter((each) => each.startsWith('/v1/')))
      for (const [, collection, name] of path.matchAll(/([^/]+)\/\{(\w+)\}/g))
        expect([path, name]).toEqual([path, nameOf(collection!)]);
  });

  it('is deleted with one form of an answer', () => {
    const deletions = operations.filter(({ method }) => method === 'DELETE');
    expect(deletions.length).toBeGreaterThan(10);
    for (const { key, data } of deletions) {
      expect([key, Object.keys(data.properties!)]).toEqual([key, ['id', 'deleted']]);
      expect([key, data.required, whole(data.properties!['deleted']!).const]).toEqual([key, ['id', 'deleted'], true]);
    }
  });

  it('has one name for one thing', () => {
    const schemas = Object.entries(bundle.closed.components.schemas as Record<string, Shape>);
    const having = (field: string) => schemas.filter(([, { properties = {} }]) => field in properties);
    expect(having('meta').map(([name]) => name)).toEqual(['Campaign', 'Batch']);
    for (const [name, { properties = {} }] of having('toNumber'))
      expect([name, 'phoneNumber' in properties]).toEqual([name, false]);
    const names = [
      ...schemas.flatMap(([name, { properties = {} }]) => [name, ...Object.keys(properties)]),
      ...operations.flatMap(({ path, operation }) => [path, operation.operationId]),
    ];
    expect(names.filter((name) => /statistic/i.test(name))).toEqual([]);
  });

  it('is paged in one form', () => {
    const pages = operations.filter(({ data }) => data.properties?.['perPage']);
    expect(pages.length).toBeGreaterThan(20);
    for (const { key, operation, data } of pages) {
      expect([key, data.required]).toEqual([
        key,
        expect.arrayContaining(['items', 'page', 'perPage', 'column', 'order']),
      ]);
      const parameters = operation.parameters!.map(bundle.resolved) as { name: string; schema?: Shape }[];
      const columns = parameters.find(({ name }) => name === 'column')?.schema?.enum ?? ['createdAt'];
      expect([key, columns.includes('createdAt')]).toEqual([key, true]);
      const searches = parameters.some(({ name }) => name === 'searchText');
      if (searches) expect([key, Object.keys(data.properties!)]).toEqual([key, expect.arrayContaining(['searchText'])]);
    }
  });

  it('says so if two paths lead to it', () => {
    const all = operationsOf(bundle.closed).map(({ method, operation }) => ({ method, ...(operation as Operation) }));
    const doubled = all.filter((each) => each['x-same-as']);
    expect(doubled.map(({ operationId }) => operationId)).toEqual([
      ...['listWorkflowRuns', 'getWorkflowRun', 'streamWorkflowRunEvents', 'cancelWorkflowRun'],
    ]);
    for (const { operationId, method, parameters, responses, 'x-permission': permission, ...one } of doubled) {
      const other = all.find((each) => each.operationId === one['x-same-as'])!;
      expect([operationId, other.method, other['x-permission'], other.parameters]).toEqual([
        ...[operationId, method, permission, parameters],
      ]);
      const contentOf = (all: typeof responses) =>
        JSON.stringify(all['200']!.content, (key, value) => (key === 'examples' ? undefined : value));
      expect(contentOf(responses)).toBe(contentOf(other.responses));
    }
  });
});
