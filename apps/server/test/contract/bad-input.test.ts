import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { startEdge } from '../foundation/http/edge-app.ts';
import { badRequests } from './bad-requests.ts';

const document = forValidator(loadContract());
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

/** One place lies in the other: a fault of a shape is told where the shape stands. */
const isNear = (one: string, other: string) => one.startsWith(other) || other.startsWith(one);

const cases = operations.map((operation) => [operation.id, operation, badRequests(document, operation)] as const);

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
