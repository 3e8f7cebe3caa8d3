import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { TestClock } from '../test/test-clock.ts';
import { inOrder, locate } from './locate.ts';
import { type Random, systemRandom } from './random.ts';
import { cachedResolver, createSystemResolver, type Resolver, systemResolver } from './resolver.ts';
import type { TransportName } from './transport.ts';
import { parseUri } from './uri.ts';

const zone: Record<string, string[]> = {
  '4 one.example.com': ['192.0.2.1', '192.0.2.2'],
  '6 one.example.com': ['2001:db8::1'],
  '4 two.example.com': ['192.0.2.3'],
  '4 plain.example.com': ['192.0.2.4'],
};
const srv: Record<string, { name: string; port: number; priority: number; weight: number }[]> = {
  '_sip._udp.example.com': [
    { name: 'two.example.com', port: 5070, priority: 20, weight: 0 },
    { name: 'one.example.com', port: 5080, priority: 10, weight: 0 },
  ],
  '_sips._tcp.example.com': [{ name: 'two.example.com', port: 5061, priority: 1, weight: 1 }],
  '_sip._tcp.example.com': [{ name: '.', port: 0, priority: 0, weight: 0 }],
};

function resolver() {
  const asked: string[] = [];
  const it: Resolver = {
    async srv(name) {
      asked.push(`srv ${name}`);
      return { records: srv[name] ?? [], ttlSeconds: 60 };
    },
    async addresses(name, family) {
      asked.push(`${family} ${name}`);
      if (name === 'broken.example.com') throw Object.assign(new Error('broken'), { code: 'ESERVFAIL' });
      return { records: zone[`${family} ${name}`] ?? [], ttlSeconds: 120 };
    },
  };
  return { it, asked };
}

const located = async (uri: string, transport?: TransportName) =>
  (await locate(parseUri(uri), transport, resolver().it, systemRandom)).map(
    ({ transport, address, port, serverName }) =>
      `${transport} ${address} ${port}${serverName ? ` ${serverName}` : ''}`,
  );

test.each<[string, TransportName | undefined, string[]]>([
  ['sip:192.0.2.9', undefined, ['udp 192.0.2.9 5060']],
  ['sip:192.0.2.9:5090;transport=tcp', undefined, ['tcp 192.0.2.9 5090']],
  ['sips:a@[2001:db8::9]', undefined, ['tls 2001:db8::9 5061 2001:db8::9']],
  ['sip:192.0.2.9', 'tls', ['tls 192.0.2.9 5061 192.0.2.9']],
  [
    'sip:example.com',
    undefined,
    ['udp 192.0.2.1 5080', 'udp 192.0.2.2 5080', 'udp 2001:db8::1 5080', 'udp 192.0.2.3 5070'],
  ],
  ['sip:example.com', 'tls', ['tls 192.0.2.3 5061 example.com']],
  ['sip:one.example.com:5099', undefined, ['udp 192.0.2.1 5099', 'udp 192.0.2.2 5099', 'udp 2001:db8::1 5099']],
  ['sip:plain.example.com', 'tcp', ['tcp 192.0.2.4 5060']],
  ['sip:plain.example.com;maddr=198.51.100.1', undefined, ['udp 192.0.2.4 5060']],
])('%s over %s leads to %j', async (uri, transport, expected) => {
  expect(await located(uri, transport)).toEqual(expected);
});

test('a name without an address, and a DNS without an answer, are told apart in words', async () => {
  await expect(located('sip:nobody.example.com')).rejects.toMatchObject({
    code: 'dns',
    message: 'nobody.example.com has no address.',
  });
  await expect(located('sip:broken.example.com:5060')).rejects.toMatchObject({
    code: 'dns',
    message: 'broken.example.com: the DNS gives no answer (ESERVFAIL).',
  });
});

test('weights decide within a priority', () => {
  const record = (name: string, weight: number, priority = 1) => ({ name, weight, priority, port: 5060 });
  const records = [record('later', 100, 2), record('heavy', 3), record('light', 1), record('none', 0)];
  const chosen = (chance: number) =>
    inOrder(records, { ...systemRandom, number: () => chance } as Random).map(({ name }) => name);
  expect(chosen(0)).toEqual(['none', 'light', 'heavy', 'later']);
  expect(chosen(0.99)).toEqual(['heavy', 'light', 'none', 'later']);
  const first = { heavy: 0, light: 0, none: 0, later: 0 };
  for (let n = 0; n < 1000; n += 1) first[inOrder(records, systemRandom)[0]!.name as keyof typeof first] += 1;
  expect(first.heavy).toBeGreaterThan(first.light);
  expect(first.later).toBe(0);
});

test('answers are kept for as long as they hold, asked for once at a time, and refusals for some seconds', async () => {
  const { it, asked } = resolver();
  const clock = new TestClock();
  const cached = cachedResolver(it, clock);
  await Promise.all([cached.addresses('one.example.com', 4), cached.addresses('one.example.com', 4)]);
  await clock.advance(119_000);
  await cached.addresses('one.example.com', 4);
  expect(asked).toHaveLength(1);
  await clock.advance(2000);
  await cached.addresses('one.example.com', 4);
  expect(asked).toHaveLength(2);
  await cached.addresses('missing.example.com', 4);
  await clock.advance(31_000);
  await cached.addresses('missing.example.com', 4);
  expect(asked).toHaveLength(4);
  for (let n = 0; n < 2; n += 1) await cached.addresses('broken.example.com', 4).catch(() => {});
  expect(asked).toHaveLength(5);
  await clock.advance(5001);
  await expect(cached.addresses('broken.example.com', 4)).rejects.toThrow();
  expect(asked).toHaveLength(6);
});

test('the machine’s own names are found', async () => {
  expect((await systemResolver.addresses('localhost', 4)).records).toEqual(['127.0.0.1']);
  expect((await systemResolver.addresses('no-such-host.invalid', 4)).records).toEqual([]);
});

test('names whose name server is silent keep no other waiting', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const own = createSystemResolver({ servers: [`127.0.0.1:${silent.address().port}`] });
  let over = 0;
  const dead = Array.from({ length: 50 }, (_, at) =>
    own.addresses(`dead${at}.example.com`, 4).catch((error) => {
      over += 1;
      return error.code;
    }),
  );
  expect((await own.addresses('localhost', 4)).records).toEqual(['127.0.0.1']);
  expect(over).toBe(0);
  expect(await Promise.all(dead)).toEqual(Array(50).fill('ETIMEOUT'));
  // None of them is left to the threads of the process.
  expect((await own.addresses('localhost', 4)).records).toEqual(['127.0.0.1']);
  silent.close();
});

test('a name with a dot that the DNS does not know is looked for in the hosts file, and takes no thread', async () => {
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('message', (question, from) => {
    const answer = Buffer.from(question);
    answer.writeUInt16BE(0x8183, 2);
    server.send(answer, from.port, from.address);
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-hosts-'));
  const hostsFile = path.join(folder, 'hosts');
  await writeFile(
    hostsFile,
    '# 192.0.2.6 pbx.example.com\n192.0.2.7\tother PBX.example.com # ours\n2001:db8::7 pbx.example.com',
  );
  const looked: string[] = [];
  const own = createSystemResolver({
    servers: [`127.0.0.1:${server.address().port}`],
    hostsFile,
    lookUp: async (name) => {
      looked.push(name);
      return [{ address: '192.0.2.8', family: 4 }];
    },
  });
  expect((await own.addresses('pbx.example.com', 4)).records).toEqual(['192.0.2.7']);
  expect((await own.addresses('pbx.example.com', 6)).records).toEqual(['2001:db8::7']);
  expect((await own.addresses('none.example.com', 4)).records).toEqual([]);
  expect((await own.addresses('pbx', 4)).records).toEqual(['192.0.2.8']);
  expect(looked).toEqual(['pbx']);
  server.close();
  await rm(folder, { recursive: true });
});

test('names without a dot whose look-up hangs are given up, and take two threads at most', async () => {
  vi.useFakeTimers();
  try {
    const begun: string[] = [];
    const hanging = new Map<string, () => void>();
    const own = createSystemResolver({
      lookUp: (name) => {
        begun.push(name);
        return new Promise((resolve) => hanging.set(name, () => resolve([{ address: '192.0.2.9', family: 4 }])));
      },
    });
    const codes = ['one', 'two', 'three'].map((name) => own.addresses(name, 4).catch((error) => error.code));
    await vi.advanceTimersByTimeAsync(4000);
    expect(await Promise.all(codes)).toEqual(['ETIMEOUT', 'ETIMEOUT', 'ETIMEOUT']);
    const next = own.addresses('four', 4);
    expect(begun).toEqual(['one', 'two']);
    hanging.get('two')!();
    await vi.waitUntil(() => begun.includes('four'));
    hanging.get('four')!();
    expect((await next).records).toEqual(['192.0.2.9']);
    expect(begun).toEqual(['one', 'two', 'four']);
  } finally {
    vi.useRealTimers();
  }
});
