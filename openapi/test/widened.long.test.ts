import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../packages/sip/test/peers/peer-process.ts';
import { type Bundle, bundleContract, examplesOf, here, operationsOf } from './bundle.ts';
import { type Json, widened } from './widened.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleContract();
});
afterAll(() => bundle.remove());

it('a proxy that checks the answers of a server that says more lets them through', async () => {
  const read = widened(bundle).filter(({ key, status }) => key.startsWith('GET /v1/') && status === '200');
  const answers = [...new Map(read.map((answer) => [answer.key, answer])).values()];
  expect(answers.length).toBeGreaterThan(40);
  const upstream = await serving((at) => answers[at]!.example);
  const { url, proxy } = await proxyTo(upstream);
  try {
    for (const [at, { key, example }] of answers.entries()) {
      const response = await fetch(url + requestOf(key), { headers: { 'X-API-Key': 'tl_test', 'X-At': String(at) } });
      expect([key, response.headers.get('sl-violations')]).toEqual([key, null]);
      expect([key, response.status, await response.json()]).toEqual([key, 200, example]);
    }
  } finally {
    proxy.kill();
    upstream.close();
  }
});

/** The path of an operation, with the examples of what it needs. */
function requestOf(key: string): string {
  const { path, item, operation } = operationsOf(bundle.contract).find(
    (each) => `${each.method} ${each.path}` === key,
  )!;
  const query = new URLSearchParams();
  let at = path;
  for (const parameter of [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(bundle.resolved)) {
    const value = String(examplesOf(parameter)[0]);
    if (parameter.in === 'path') at = at.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (parameter.in === 'query' && parameter.required) query.set(parameter.name, value);
  }
  return query.size > 0 ? `${at}?${query}` : at;
}

/** A server that answers what a request names by its number. */
async function serving(answerTo: (at: number) => Json): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('X-Request-Id', '0'.repeat(32));
    response.setHeader('ETag', '"1"');
    response.end(JSON.stringify(answerTo(Number(request.headers['x-at'] ?? 0))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** A proxy that checks answers. It knows the reads alone, so that it starts sooner. */
async function proxyTo(upstream: Server): Promise<{ url: string; proxy: ChildProcess }> {
  const reads = Object.entries(bundle.contract.paths).filter(([, item]) => item['get']);
  const paths = Object.fromEntries(reads.map(([path, { parameters, get }]) => [path, { parameters, get }]));
  const contract = join(bundle.folder, 'reads.json');
  await writeFile(contract, JSON.stringify({ ...bundle.contract, paths, webhooks: undefined }));
  const port = await freePort();
  const { port: behind } = upstream.address() as { port: number };
  const args = [
    'proxy',
    contract,
    `http://127.0.0.1:${behind}`,
    '--port',
    String(port),
    '--host',
    '127.0.0.1',
    '--errors',
  ];
  const proxy = spawn(here('node_modules/.bin/prism'), args, { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 300; tries += 1) {
    if (await fetch(url).catch(() => undefined)) return { url, proxy };
    await sleep(100);
  }
  proxy.kill();
  throw new Error('prism did not start');
}
