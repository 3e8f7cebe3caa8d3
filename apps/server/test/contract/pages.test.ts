import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';

const root = path.join(import.meta.dirname, '../../../..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'deploy/prometheus/alerts.yml',
  ...readdirSync(path.join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const sources = readdirSync(path.join(root, 'apps/server/src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => read(`apps/server/src/${name}`))
  .join('\n');

/** With its parameters' names left out, which a page may shorten, or write as variables of a shell. */
const shapeOf = (place: string) => place.replaceAll(/\{\w+\}|\$\w+/g, '{}');

const operations = operationsOf(forValidator(loadContract()));
const places = new Set(operations.flatMap(({ method, path: at }) => [shapeOf(at), shapeOf(`${method} ${at}`)]));

/** Paths of others, which these pages name. */
const ofOthers = ['/v1/audio/speech', 'POST /v1/audio/speech', 'POST /v1/audio/transcriptions', '/v1/realtime'];

/** Operations and paths that a text names, with and without a method, and that the contract has not. */
const unknownPlaces = (text: string) =>
  [...text.matchAll(/(?:(?:GET|POST|PUT|PATCH|DELETE) )?\/v1\/[\w/{}$-]*[\w}]/g)]
    .map(([place]) => place)
    .filter((place) => !places.has(shapeOf(place)) && !ofOthers.includes(place));

/** Metrics that a text names and that no source does. */
const unknownMetrics = (text: string) =>
  [...text.matchAll(/\btrunkline_[a-z_]+[a-z]\b/g)].map(([name]) => name).filter((name) => !sources.includes(name));

test.each(pages)('%s names operations and metrics that there are', (page) => {
  expect([...unknownPlaces(read(page)), ...unknownMetrics(read(page))]).toEqual([]);
});

test('what there is not is found', () => {
  const text = '`GET /v1/calls/{id}` and `PUT /v1/calls/{id}`, /v1/callers, `trunkline_calls_lost_total`.';
  expect([...unknownPlaces(text), ...unknownMetrics(text)]).toEqual([
    'PUT /v1/calls/{id}',
    '/v1/callers',
    'trunkline_calls_lost_total',
  ]);
});

test('the code that CONTRIBUTING shows is a test that runs', () => {
  const shown = [...read('CONTRIBUTING.md').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  const tests = read('apps/server/test/platform/api-keys/api-keys.test.ts');
  expect(shown.filter((code) => !tests.includes(code))).toEqual([]);
  expect(shown).toHaveLength(1);
});

test('the code that the page of agents shows is that of the example', () => {
  const shown = [...read('docs/agents.md').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  const example = read('examples/agent/is-from-trunkline.ts');
  expect(shown).toHaveLength(1);
  for (const line of shown[0]!.split('\n')) expect(example).toContain(line);
});
