import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inOrder, locate } from './locate.ts';
import { type Random, systemRandom } from './random.ts';
import { createSystemResolver, type Resolver, systemResolver } from './resolver.ts';
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

/** A name server that gives these names 192.0.2.9, fails for others, and knows no more; with files of a machine. */
async function machine({
  known = [],
  failing = [],
  hosts = '',
  resolv = '',
}: {
  known?: string[];
  failing?: string[];
  hosts?: string;
  resolv?: string;
}) {
  const asked: string[] = [];
  const server = createSocket('udp4').bind(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('message', (question, from) => {
    const labels: string[] = [];
    let at = 12;
    for (; question[at]! > 0; at += 1 + question[at]!)
      labels.push(question.toString('latin1', at + 1, at + 1 + question[at]!).toLowerCase());
    const name = labels.join('.');
    asked.push(name);
    const answer = Buffer.from(question.subarray(0, at + 5));
    const isKnown = known.includes(name);
    answer.writeUInt16BE(isKnown ? 0x8180 : failing.includes(name) ? 0x8182 : 0x8183, 2);
    answer.fill(0, 6, 12);
    if (isKnown) answer.writeUInt16BE(1, 6);
    // The name by its place, A, IN, 60 seconds, four bytes.
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9]);
    server.send(isKnown ? Buffer.concat([answer, record]) : answer, from.port, from.address);
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-names-'));
  const [hostsFile, resolvFile] = [path.join(folder, 'hosts'), path.join(folder, 'resolv.conf')];
  await writeFile(hostsFile, hosts);
  await writeFile(resolvFile, resolv);
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  return {
    hostsFile,
    own: createSystemResolver({ servers: [`127.0.0.1:${server.address().port}`], hostsFile, resolvFile }),
    asked,
  };
}

test('what stands in the hosts file is not asked for', async () => {
  const hosts =
    '# 192.0.2.6 pbx.example.com\n192.0.2.7\tother PBX.example.com # ours\n2001:db8::7 pbx.example.com\n192.0.2.8 pbx';
  const { own, asked } = await machine({ known: ['pbx.example.com'], hosts });
  expect((await own.addresses('pbx.example.com', 4)).records).toEqual(['192.0.2.7']);
  expect((await own.addresses('pbx.example.com', 6)).records).toEqual(['2001:db8::7']);
  expect((await own.addresses('pbx', 4)).records).toEqual(['192.0.2.8']);
  expect((await own.addresses('pbx', 6)).records).toEqual([]);
  expect(asked).toEqual([]);
});

test('a hosts file is read again when it has changed, and not for each question', async () => {
  const { own, hostsFile } = await machine({ hosts: '192.0.2.1 pbx' });
  const says = async (hosts: string, at: number) => {
    await writeFile(hostsFile, hosts);
    await utimes(hostsFile, at, at);
    return (await own.addresses('pbx', 4)).records;
  };
  expect(await says('192.0.2.1 pbx', 1000)).toEqual(['192.0.2.1']);
  expect(await says('192.0.2.2 pbx', 1000)).toEqual(['192.0.2.1']);
  expect(await says('192.0.2.3 pbx', 1001)).toEqual(['192.0.2.3']);
  await rm(hostsFile);
  expect((await own.addresses('pbx', 4)).records).toEqual([]);
});

test.each<[string, string[]]>([
  ['search one.test\nsearch first.test second.test third.test', ['pbx.first.test', 'pbx.second.test']],
  ['domain second.test', ['pbx.second.test']],
  ['search first.test\noptions ndots:5', ['pbx.first.test', 'pbx']],
  ['search second.test\noptions edns0 ndots:0', ['pbx']],
  ['nameserver 192.0.2.1\nsearch .', ['pbx']],
])('a name without a dot is asked for in the search domains of %j', async (resolv, expected) => {
  const { own, asked } = await machine({ known: ['pbx', 'pbx.second.test', 'pbx.example.com'], resolv });
  expect((await own.addresses('pbx', 4)).records).toEqual(['192.0.2.9']);
  expect(asked).toEqual(expected);
});

const ofKubernetes = 'search voip.svc.test svc.test\nnameserver 192.0.2.1\noptions ndots:5';
test.each<[string, string, string[]]>([
  ['kamailio.voip', ofKubernetes, ['kamailio.voip.voip.svc.test', 'kamailio.voip.svc.test']],
  ['pbx.example.com', ofKubernetes, ['pbx.example.com.voip.svc.test', 'pbx.example.com.svc.test', 'pbx.example.com']],
  ['pbx.example.com.', ofKubernetes, ['pbx.example.com']],
  ['a.b.c.d.example.com', ofKubernetes, ['a.b.c.d.example.com']],
  ['pbx.example.com', 'search svc.test', ['pbx.example.com']],
  ['kamailio.voip', 'search svc.test', ['kamailio.voip', 'kamailio.voip.svc.test']],
  ['pbx.example.com', 'options ndots:5 edns0\noptions ndots:2\nsearch svc.test', ['pbx.example.com']],
])('%s is asked for as the machine does it by %j', async (name, resolv, expected) => {
  const known = ['pbx.example.com', 'a.b.c.d.example.com', 'kamailio.voip.svc.test'];
  const { own, asked } = await machine({ known, resolv });
  expect((await own.addresses(name, 4)).records).toEqual(['192.0.2.9']);
  expect(asked).toEqual(expected);
});

test('a search domain whose name server fails keeps no name from being found in the others', async () => {
  const resolv = 'search first.test second.test';
  const failing = ['pbx.first.test', 'other.first.test'];
  const { own } = await machine({ known: ['pbx.second.test'], failing, resolv });
  expect((await own.addresses('pbx', 4)).records).toEqual(['192.0.2.9']);
  await expect(own.addresses('other', 4)).rejects.toMatchObject({ code: 'ESERVFAIL' });
});

test('names without a dot whose name server is silent keep no other waiting', async () => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const own = createSystemResolver({ servers: [`127.0.0.1:${silent.address().port}`] });
  const dead = Array.from({ length: 50 }, (_, at) => own.addresses(`dead${at}`, 4).catch((error) => error.code));
  expect((await own.addresses('localhost', 4)).records).toEqual(['127.0.0.1']);
  expect(await Promise.all(dead)).toEqual(Array(50).fill('ETIMEOUT'));
  silent.close();
});

test('of thousands of servers the first of the order are tried, and no more are put in order', () => {
  const records = Array.from({ length: 5000 }, (_, at) => ({
    name: `s${at}`,
    port: 5060,
    priority: 5000 - at,
    weight: 0,
  }));
  const first = Array.from({ length: 16 }, (_, at) => `s${4999 - at}`);
  expect(inOrder(records, systemRandom).map(({ name }) => name)).toEqual(first);
});
