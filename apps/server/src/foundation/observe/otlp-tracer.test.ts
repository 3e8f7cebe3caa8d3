import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { until } from '../../../test/until.ts';
import { loadConfig } from '../../config.ts';
import { openTracer } from './otlp-tracer.ts';
import { partOf } from './tracing.ts';

test('a collector that refuses spans is told of once, and when it takes them again', async () => {
  let status = 400;
  const collector = createServer((_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const log = pino({ level: 'silent' });
  const [warn, info] = [vi.spyOn(log, 'warn'), vi.spyOn(log, 'info')];
  const tracer = await openTracer({ ...loadConfig({}), otlpEndpoint: url }, log);
  const span = { name: 'call', kind: 'internal', from: 0, to: 1, attributes: {} } as const;
  const record = () => tracer!.record(partOf('01932f3c-8a7e-7bd0-a1b2-c3d4e5f60718', span));
  record();
  await until(() => warn.mock.calls.length > 0);
  status = 200;
  info.mockClear();
  record();
  await until(() => info.mock.calls.length > 0);
  expect(warn).toHaveBeenCalledTimes(1);
  await tracer!.close();
  collector.close();
});
