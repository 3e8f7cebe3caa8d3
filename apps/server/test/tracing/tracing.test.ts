import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Node } from '../../src/dialing/workflows/definitions/definition.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import { type Span, setTracer } from '../../src/foundation/observe/tracing.ts';
import { fromId } from '../../src/foundation/values/ids.ts';
import { newKey } from '../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../database.ts';
import { definitionOf, end } from '../dialing/workflows/nodes.ts';
import { startRunServer } from '../dialing/workflows/run-server.ts';
import { startReceiver } from '../platform/webhooks/receiver.ts';
import { seedNumber } from '../seed/workspace.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';

const fromNumber = '+14155550123';

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number };
}
interface SpanSent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
  /** Which process has sent it. */
  service: string;
}

/** A collector that keeps what it is sent. */
async function startCollector() {
  const spans: SpanSent[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
        const service = resource.attributes.find(({ key }: Attribute) => key === 'service.name').value.stringValue;
        for (const each of scopeSpans) for (const span of each.spans) spans.push({ ...span, service });
      }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    spans,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => server.close(),
  };
}

let collector: Awaited<ReturnType<typeof startCollector>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  [collector, receiver] = [await startCollector(), await startReceiver()];
});
const processes: ServerProcess[] = [];
afterAll(async () => {
  await Promise.all(processes.map((each) => each.kill()));
  collector.stop();
  await receiver.stop();
});

test('one trace leads from the request on one server to the end of its call and the webhook on another', async () => {
  const { connection, drop } = await freshDatabase();
  // All databases of a run are one installation: in a folder of others its witness would be newer than this one.
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-tracing-'));
  const apiKey = newKey('test');
  const start = async (name: string) => {
    const started = await startServerProcess({
      DATABASE_URL: connection.connectionString,
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
      SIMULATOR_SPEED: '1000',
      OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: name,
    });
    processes.push(started);
    return started;
  };
  const first = await start('first');
  const clientOf = (baseUrl: string) => createClient({ baseUrl, apiKey, maxRetries: 0 });
  const client = clientOf(first.url);
  await client.POST('/v1/webhooks', { body: { url: receiver.url, eventTypes: ['call.ended'] } });
  const database = openDatabase({ connection, poolSize: 1, log: pino({ level: 'silent' }) });
  const workspace = await client.GET('/v1/workspace');
  await seedNumber(database, fromId(workspace.data!.data.id), fromNumber);
  await database.close();
  await client.POST('/v1/workspace/pause-dialing', {});
  const sender = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  const made = await client.POST('/v1/calls/batch', {
    body: {
      agentId: 'agent',
      fromNumber,
      recipients: [{ phoneNumber: '+14155550100' }],
    },
    headers: { traceparent: `00-${sender.traceId}-${sender.spanId}-01` },
  });
  expect(made.error).toBeUndefined();
  process.kill(first.pid, 'SIGTERM');
  const traceId = made.data!.batchId.slice('bat_'.length);
  const trace = () => collector.spans.filter((span) => span.traceId === traceId);
  await until(() => trace().length > 0);
  await first.kill();

  const second = await start('second');
  await clientOf(second.url).POST('/v1/workspace/resume-dialing', {});
  await until(() => receiver.received.length > 0 && trace().some(({ name }) => name === 'webhook'));
  await until(() => {
    const names = trace().map(({ service, name }) => `${name} of ${service}`);
    const all = ['claim', 'place', 'call'].every((name) => names.includes(`${name} of second`));
    if (!all) throw new Error(`There are ${names.join(', ')}.\n${second.log()}`);
  });
  process.kill(second.pid, 'SIGTERM');
  await second.kill();

  const named = (name: string) => trace().find((span) => span.name === name)!;
  const root = named('startBatch');
  expect(root).toMatchObject({ service: 'first', spanId: traceId.slice(16) });
  expect(root.parentSpanId ?? '').toBe('');
  for (const name of ['claim', 'call', 'webhook'])
    expect(named(name)).toMatchObject({ service: 'second', parentSpanId: root.spanId });
  expect(named('place')).toMatchObject({ service: 'second', parentSpanId: named('call').spanId });
  expect(receiver.received[0]!.headers['traceparent']).toBe(`00-${traceId}-${named('webhook').spanId}-01`);
  const theirs = collector.spans.find((span) => span.traceId === sender.traceId)!;
  expect(theirs).toMatchObject({ name: 'startBatch', parentSpanId: sender.spanId });
  expect(theirs.links).toMatchObject([{ traceId, spanId: root.spanId }]);
  expect(root.links).toMatchObject([{ traceId: sender.traceId, spanId: theirs.spanId }]);
  expect(JSON.stringify(collector.spans)).not.toContain('14155550100');
  await drop();
  await rm(dataDir, { recursive: true });
});

test('a run is a trace of its own, with its steps and the request of its node, which carries it on', async () => {
  const spans: Span[] = [];
  const server = await startRunServer();
  setTracer({ record: (span) => spans.push(span), close: async () => {} });
  try {
    const sent = {
      id: 'ask',
      type: 'http',
      title: 'ask',
      method: 'POST',
      url: receiver.url,
      body: { type: 'asked' },
      next: 'done',
    };
    const run = await server.carryOut(definitionOf([sent as Node, end()]));
    const traceId = run.id.slice('run_'.length);
    await until(() => spans.some(({ name, traceId: of }) => name === 'startWorkflowRun' && of === traceId));
    const trace = spans.filter((span) => span.traceId === traceId);
    const names = trace.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['step', 'http']));
    const http = trace.find(({ name }) => name === 'http')!;
    expect(http).toMatchObject({ parent: traceId.slice(16), attributes: { 'http.response.status_code': 204 } });
    expect(receiver.received.at(-1)!.headers['traceparent']).toBe(`00-${traceId}-${http.spanId}-01`);
  } finally {
    setTracer(undefined);
    await server.stop();
  }
});
