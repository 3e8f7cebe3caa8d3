import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../../src/foundation/http/app.ts';
import { type Operation, operationsOf } from '../../../src/foundation/http/contract.ts';
import type { Principal } from '../../../src/foundation/http/principal.ts';
import { forValidator } from '../../../src/foundation/http/validator-contract.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { noteStatus } from '../../contract/statuses.ts';
import { KEY, startEdge } from './edge-app.ts';

const document = forValidator(loadContract());
const operations = operationsOf(document);
const everything: Principal = { keyId: 'k', hash: 'h', workspaceId: 'w', permissions: ['*', 'operator'] };
/** What the next request meets. */
let next: { principal?: Principal | undefined; failure?: Error; empty?: boolean } = {};
let edge: Awaited<ReturnType<typeof startEdge>>;

const recognize = () => {
  if (next.failure) throw next.failure;
  return next.principal;
};

beforeAll(async () => {
  edge = await startEdge({
    authenticate: recognize,
    authenticateOperator: recognize,
    rateLimit: () => {
      if (next.failure) throw next.failure;
      if (next.empty) throw new ServiceError('rate_limited', 'Wait.', { headers: { 'Retry-After': '1' } });
      return 0;
    },
    onAnswer: noteStatus,
  });
});
afterAll(() => edge.stop());

/** Sends what fails before any handler, so that no parameter needs to be right. */
async function answerOf(
  operation: Operation,
  meets: typeof next,
  request: Parameters<typeof edge.send>[2] = {},
  query = '',
) {
  next = { principal: everything, ...meets };
  const { status, body } = await edge.send(
    operation.method,
    operation.path.replaceAll(/\{[^}]+\}/g, 'x') + query,
    request,
  );
  return [status, body.code];
}

/** Leaves out, instead of skipping, what does not apply to an operation. */
const testIf = (applies: unknown) => (applies ? test : () => undefined);

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  test('answers what every operation can, as the contract says', async () => {
    if (operation.permission !== 'anyone') {
      const headers = { 'X-API-Key': KEY };
      expect(await answerOf(operation, { principal: undefined }, { headers })).toEqual([401, 'unauthorized']);
    }
    expect(await answerOf(operation, { empty: true })).toEqual([429, 'rate_limited']);
    expect(await answerOf(operation, { failure: new Error('x') })).toEqual([500, 'internal_error']);
    expect(await answerOf(operation, { failure: new ServiceError('unavailable', 'x') })).toEqual([503, 'unavailable']);
  });

  testIf(!['anyone', 'authenticated', 'operator'].includes(operation.permission))('needs its permission', async () => {
    const principal = { ...everything, permissions: ['authenticated', 'other:read'] };
    expect(await answerOf(operation, { principal })).toEqual([403, 'forbidden']);
  });

  testIf(operation.statuses.has(400))('refuses what it does not know', async () => {
    const body = operation.body?.types[0] === 'application/json' ? { body: {} } : {};
    const [status] = await answerOf(operation, {}, body, '?nonsense=1');
    expect(status).toBe(400);
  });

  testIf(operation.body)('can say that a body did not come in time', async () => {
    const failure = new ServiceError('request_timeout', 'x');
    expect(await answerOf(operation, { failure })).toEqual([408, 'request_timeout']);
  });

  testIf(operation.body)('refuses a body of another type', async () => {
    const request = { body: 'x', headers: { 'Content-Type': 'text/plain' } };
    expect(await answerOf(operation, {}, request)).toEqual([415, 'unsupported_media_type']);
  });

  testIf(operation.body?.types.includes('application/json'))('refuses a body that is too large', async () => {
    const body = JSON.stringify('x'.repeat((operation.id === 'startBatch' ? 8 : 2) * 1024 * 1024));
    // Who sends many waits for the answers.
    const principal = { ...everything, workspaceId: operation.id };
    expect(await answerOf(operation, { principal }, { body })).toEqual([413, 'payload_too_large']);
  });
});

test('what is for operators is not there without their key, as nothing else is', async () => {
  const without = await startEdge({ authenticateOperator: undefined });
  try {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const [there, nowhere] = await Promise.all(
        ['/v1/operator/status', '/v1/operator/nowhere'].map((path) => without.send(method, path)),
      );
      const told = ({ requestId: _, ...body }: Record<string, unknown>) => body;
      expect([there!.status, told(there!.body)]).toEqual([404, told(nowhere!.body)]);
      expect(nowhere!.status).toBe(404);
    }
    noteStatus('getOperatorStatus', 404);
  } finally {
    await without.stop();
  }
});
