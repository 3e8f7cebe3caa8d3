import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../src/http/app.ts';
import { type ContractOperation, type Operation, operationsOf, resolve } from '../../src/http/contract.ts';
import { forValidator } from '../../src/http/validator-contract.ts';
import { startEdge } from '../http/edge-app.ts';
import { badValues, type ValueSchema } from './bad-values.ts';
import { exampleRequest } from './example-request.ts';

const document = forValidator(loadContract());
const resolved = (schema: ValueSchema) => resolve(document, schema);
const operations = operationsOf(document);
const HANDLED = 'the handler was asked';
let edge: Awaited<ReturnType<typeof startEdge>>;

beforeAll(async () => {
  const handler = () => {
    throw new Error(HANDLED);
  };
  edge = await startEdge({ handlers: Object.fromEntries(operations.map(({ id }) => [id, handler])) });
});
afterAll(() => edge.stop());

interface Sent {
  name: string;
  /** Where the answer has to point to. */
  place: string;
  path: string;
  request: { body?: unknown; headers?: Record<string, string> };
}

/** Requests that are right but for one fault. */
function badRequests(operation: Operation): Sent[] {
  const [, path, request] = exampleRequest(document, operation);
  const { requestBody } = document.paths[operation.path]![operation.method.toLowerCase()] as ContractOperation;
  const content = requestBody?.content['application/json'] as { examples?: Record<string, { value: unknown }> };
  const bodies = Object.values(content?.examples ?? {}).flatMap(({ value }) =>
    badValues(resolved, operation.body!.schema as ValueSchema, value).map((bad) => ({
      name: `${['body', ...bad.path].join('.')} ${bad.fault}`,
      place: ['', 'body', ...bad.path].join('/'),
      path,
      request: { ...request, body: JSON.stringify(bad.value) },
    })),
  );
  return [
    ...bodies,
    ...operation.parameters.flatMap((parameter) => badParameters(operation, parameter, path, request)),
  ];
}

function badParameters(
  operation: Operation,
  { name, in: place, schema, ...rest }: Operation['parameters'][number],
  path: string,
  request: Sent['request'],
): Sent[] {
  const good = (rest as { example?: unknown }).example;
  const values = badValues(resolved, schema as ValueSchema, good)
    // An empty segment is another path; and what is text anyway can't be of another type.
    .filter(({ fault, value }) => !(value === '' && place !== 'query') && !/^of type|^null$/.test(fault))
    .filter(({ value }) => place !== 'header' || /^[\x20-\x7e]*$/.test(String(value)))
    .map(({ fault, value }) => ({ fault, text: String(value) }));
  if ([schema.type].flat().includes('integer')) values.push({ fault: 'a word', text: 'x' });
  return values.map(({ fault, text }) => {
    const sent = {
      name: `${name} ${fault}`,
      place: `/${place === 'header' ? 'headers' : place}/${name}`,
      path,
      request,
    };
    if (place === 'header') return { ...sent, request: { ...request, headers: { ...request.headers, [name]: text } } };
    if (place === 'query') return { ...sent, path: `${path}?${name}=${encodeURIComponent(text)}` };
    const segments = operation.path.split('/');
    const changed = path.split('/');
    changed[segments.indexOf(`{${name}}`)] = encodeURIComponent(text);
    return { ...sent, path: changed.join('/') };
  });
}

/** One place lies in the other: a fault of a shape is told where the shape stands. */
const isNear = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);

const cases = operations.map((operation) => [operation.id, operation, badRequests(operation)] as const);

test('the contract sets thousands of rules for what strangers send', () => {
  expect(cases.reduce((sum, [, , requests]) => sum + requests.length, 0)).toBeGreaterThan(1000);
});

describe.each(cases.filter(([, , requests]) => requests.length > 0))('%s', (_id, operation, requests) => {
  test('answers each fault with 400, and says where it lies', async () => {
    const wrong: unknown[] = [];
    for (const { name, place, path, request } of requests) {
      const { status, body } = await edge.send(operation.method, path, request);
      const details: { path: string; message: string }[] = body?.details ?? [];
      const points = details.some((detail) => isNear(detail.path, place) && detail.message.length > 0);
      if (status !== 400 || !points) wrong.push([name, status, body]);
    }
    expect(wrong).toEqual([]);
  });
});
