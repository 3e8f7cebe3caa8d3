import fc from 'fast-check';
import { expect } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { type ContractDocument, operationsOf } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { type NearRequest, nearRequests } from './near-requests.ts';

const SEED = 12;
const AT_ONCE = 10;

/** With which status a request was refused for what it is, if it was. */
async function refusal(baseUrl: string, apiKey: string, { method, path, request: { body, headers } }: NearRequest) {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      'X-API-Key': apiKey,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  if (response.headers.get('content-type') === 'text/event-stream') await response.body!.cancel();
  else await response.text();
  return [400, 413, 415].includes(response.status) ? response.status : 'none';
}

/**
 * Sends right and nearly right requests, some 3,200 in all, to the server and to the mock: both must accept and refuse the same.
 * @param most so many of them, in an order by chance
 */
export async function compareMock(
  server: { url: string; apiKey: string },
  mockUrl: string,
  most: number,
): Promise<void> {
  const { apiKey } = server;
  // Without the mark, faults are made in what is judged item by item too.
  const text = JSON.stringify(loadContract(), (key, value) => (key === 'x-judged' ? undefined : value));
  const document = forValidator(JSON.parse(text) as ContractDocument);
  const all = operationsOf(document)
    // The mock takes every key as the operator's.
    .filter(({ permission }) => permission !== 'operator')
    // The server looks at files once it has found where they go, and there is nothing yet.
    .filter(({ body }) => !body?.types.includes('multipart/form-data'))
    .flatMap((operation) => nearRequests(document, operation));
  const length = Math.min(most, all.length);
  const several = fc.shuffledSubarray(all, { minLength: length, maxLength: length });
  const [chosen] = fc.sample(several, { seed: SEED, numRuns: 1 });
  const queue = chosen!.values();
  const seen = { accepted: 0, refused: 0 };
  const differ: unknown[] = [];
  const sender = async () => {
    for (const request of queue) {
      const [byServer, byMock] = await Promise.all([
        refusal(server.url, apiKey, request),
        refusal(mockUrl, apiKey, request),
      ]);
      seen[byServer === 'none' ? 'accepted' : 'refused'] += 1;
      if (byServer !== byMock) differ.push({ ...request, byServer, byMock });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  expect(differ).toEqual([]);
  expect(seen.accepted + seen.refused).toBe(length);
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(length / 6);
}
