import { expect, test } from 'vitest';
import type {
  OutboundAnswer,
  OutboundRequest,
  SendRequest,
} from '../../../foundation/outbound-http/guarded-request.ts';
import { OutboundError } from '../../../foundation/outbound-http/outbound-error.ts';
import type { HttpNode } from '../definitions/definition.ts';
import { fillUrl } from './fill-url.ts';
import { afterHttpAttempt, performHttp } from './perform-http.ts';

const node = (given: Partial<HttpNode> = {}): HttpNode => ({
  id: 'tell',
  type: 'http',
  title: 'Tell',
  method: 'POST',
  url: 'https://crm.example/calls',
  next: 'done',
  ...given,
});

const answering = (answer: Partial<OutboundAnswer> & { text?: string } = {}) => {
  const sent: OutboundRequest[] = [];
  const send: SendRequest = async (request) => {
    sent.push(request);
    return { status: 200, headers: {}, body: Buffer.from(answer.text ?? ''), ...answer };
  };
  return { sent, send };
};

const now = new Date('2026-11-20T09:30:00Z');
const context = {
  phone: '+1 415',
  id: 'a/b?c#d',
  order: { n: 1 },
  host: 'x@evil',
  up: '..',
  url: 'http://a.example/?q=1',
};
const perform = (given: Partial<HttpNode>, send: SendRequest, signal?: AbortSignal) =>
  performHttp(node(given), context, {
    workspaceId: 'ours',
    idempotencyKey: 'run_1-3',
    send,
    now,
    ...(signal && { signal }),
  });

test('sends what the definition says, with a key of its own', async () => {
  const { sent, send } = answering();
  await perform({ url: 'https://crm.example/{{id}}', body: { phone: '{{phone}}', order: '{{order}}' } }, send);
  expect(sent[0]).toEqual({
    workspaceId: 'ours',
    method: 'POST',
    url: 'https://crm.example/a%2Fb%3Fc%23d',
    headers: { 'idempotency-key': 'run_1-3', 'user-agent': 'Trunkline', 'content-type': 'application/json' },
    body: '{"phone":"+1 415","order":{"n":1}}',
    timeoutMs: 10_000,
    maxBytes: 262_144,
    signal: undefined,
  });
  const headers = { 'Idempotency-Key': 'mine', 'Content-Type': 'text/csv', Authorization: 'Bearer {{phone}}' };
  await perform({ method: 'PUT', headers, body: 'a,{{phone}}', timeoutSeconds: 3 }, send);
  expect(sent[1]).toMatchObject({ method: 'PUT', body: 'a,+1 415', timeoutMs: 3000 });
  expect(sent[1]!.headers).toEqual({
    'idempotency-key': 'mine',
    'user-agent': 'Trunkline',
    'content-type': 'text/csv',
    authorization: 'Bearer +1 415',
  });
  await perform({ body: '{{order}}' }, send);
  expect(sent[2]).toMatchObject({ body: '{"n":1}', headers: { 'content-type': 'application/json' } });
  await perform({ method: 'GET' }, send);
  expect(sent[3]).not.toHaveProperty('body');
  expect(sent[3]!.headers).not.toHaveProperty('content-type');
});

test('values of a URL stay where they were put', () => {
  expect(fillUrl('https://a.example/{{phone}}?x={{id}}', context)).toBe('https://a.example/%2B1%20415?x=a%2Fb%3Fc%23d');
  expect(fillUrl('{{url}}', context)).toBe('http://a.example/?q=1');
  expect(fillUrl('{{url | default: "http://b.example/"}}', context)).toBe('http://a.example/?q=1');
  expect(fillUrl('https://a.example/{{none | default: "/?"}}', context)).toBe('https://a.example/%2F%3F');
  expect(URL.parse(fillUrl('https://{{host}}.a.example/', context)!)).toBeNull();
  for (const url of ['https://a.example/x/{{up}}', 'https://a.example/{{up}}/y', 'https://a.example/%2E{{dot}}?q'])
    expect(fillUrl(url, { ...context, dot: '.' })).toBeUndefined();
  expect(fillUrl('https://a.example/?q={{up}}', context)).toBe('https://a.example/?q=..');
  expect(fillUrl('https://a.example/v1.{{up}}', context)).toBe('https://a.example/v1...');
});

test('JSON is read where the answer says so, and what a context can not hold is left out', async () => {
  const json = { 'content-type': 'application/problem+json; charset=utf-8' };
  const read = async (text: string, headers: Record<string, string> = json) =>
    (await perform({}, answering({ text, headers }).send)).answer;
  expect(await read('{"tier":"vip"}')).toEqual({ status: 200, headers: json, body: { tier: 'vip' } });
  expect((await read('{"tier"'))!.body).toBe('{"tier"');
  expect(await read('', {})).toEqual({ status: 200, headers: {} });
  expect((await read('{"a":1}', { 'content-type': 'text/plain' }))!.body).toBe('{"a":1}');
  const odd = '{"__proto__":{"a":1},"b":{"constructor":2,"c":"\\u0000\\ud800"},"\\u0000":1}';
  expect(JSON.stringify((await read(odd))!.body)).toBe('{"b":{"c":"\ufffd\ufffd"},"\ufffd":1}');
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expect((await read(deep))!.body).toBe(deep);
});

test.each([
  [204, undefined, false],
  [302, 'POST answered 302.', false],
  [404, 'POST answered 404.', false],
  [429, 'POST answered 429.', true],
  [500, 'POST answered 500.', true],
  [503, 'POST answered 503.', true],
])('an answer of %i', async (status, message, retriable) => {
  const attempt = await perform({}, answering({ status }).send);
  expect(attempt).toEqual({
    answer: { status, headers: {} },
    retriable,
    ...(message && { error: { code: 'http_failed', message } }),
  });
});

test.each([
  ['timeout', true],
  ['connect_failed', true],
  ['connection_lost', true],
  ['blocked_address', false],
  ['invalid_request', false],
  ['response_too_large', false],
] as const)('no answer because of %s', async (code, retriable) => {
  const send = () => Promise.reject(new OutboundError(code, 'Why.'));
  expect(await perform({}, send)).toEqual({ error: { code: 'http_failed', message: 'Why.' }, retriable });
});

test('what is not about the request comes through', async () => {
  const { sent, send } = answering();
  await expect(perform({ url: 'https://a.example/{{absent}}' }, send)).rejects.toMatchObject({
    code: 'template_key_missing',
  });
  expect(await perform({ url: 'https://a.example/{{up}}' }, send)).toMatchObject({ retriable: false, error: {} });
  expect(sent).toEqual([]);
  const aborted = new OutboundError('aborted', 'x');
  await expect(perform({}, () => Promise.reject(aborted))).rejects.toBe(aborted);
});

test.each([
  ['7', 7_000],
  ['Fri, 20 Nov 2026 09:31:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
  ['soon', undefined],
])('Retry-After: %s', async (header, after) => {
  const attempt = await perform({}, answering({ status: 503, headers: { 'retry-after': header } }).send);
  expect(attempt.retryAfterMs).toBe(after);
});

test('a failure is tried again as often as the definition says, ever more rarely', () => {
  const delays = (retries: number | undefined, retryAfterMs?: number) =>
    [1, 2, 3, 8, 11].map((tries) =>
      afterHttpAttempt(
        retries === undefined ? {} : { retries },
        { retriable: true, ...(retryAfterMs !== undefined && { retryAfterMs }) },
        tries,
        0,
      ),
    );
  expect(delays(undefined)).toEqual(Array(5).fill(undefined));
  expect(delays(2)).toEqual([1_000, 2_000, undefined, undefined, undefined]);
  expect(delays(10)).toEqual([1_000, 2_000, 4_000, 60_000, undefined]);
  expect(delays(10, 30_000).slice(0, 4)).toEqual([30_000, 30_000, 30_000, 60_000]);
  expect(delays(1, 86_400_000)[0]).toBe(600_000);
  expect(afterHttpAttempt({ retries: 1 }, { retriable: true }, 1, 1)).toBe(500);
  expect(afterHttpAttempt({ retries: 5 }, { retriable: false }, 1, 0)).toBeUndefined();
});
