import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { ProbeOptions, UserAgentOptions } from '../src/index.ts';
import { startAgent } from './agents.ts';
import { createAuthority } from './certificates.ts';
import { type Answer, startRawPeer } from './raw-peer.ts';

const credentials = { username: 'ada', password: 'secret' };
const challenge: Answer = { headers: [['www-authenticate', 'Digest realm="r", nonce="n", qop="auth"']] };
type Said = [method: string, status: number, answer?: Answer];

/** A probe of a peer that says these, one after the other. */
async function probed(said: Said[], options: Partial<ProbeOptions> = {}, agentOptions: UserAgentOptions = {}) {
  const peer = await startRawPeer();
  const agent = await startAgent(agentOptions);
  const report = agent.probe({ uri: `sip:127.0.0.1:${peer.port}`, timeoutMs: 200, ...options });
  const requests = [];
  for (const [method, status, answer] of said) {
    const request = await peer.request(method);
    requests.push(request);
    peer.respond(request, status, answer);
  }
  return { report: await report, requests, peer };
}

test.each<[string, Said[], Partial<ProbeOptions>, [string, string, number]]>([
  ['answers anybody', [['OPTIONS', 200]], {}, ['reachable', 'not_given', 200]],
  ['answers with any 4xx', [['OPTIONS', 404]], { credentials }, ['reachable', 'unverified', 404]],
  ['does not know OPTIONS', [['OPTIONS', 501]], {}, ['reachable', 'not_given', 501]],
  ['has a fault', [['OPTIONS', 503]], { credentials }, ['server_error', 'unverified', 503]],
  [
    'takes the password',
    [
      ['OPTIONS', 401, challenge],
      ['OPTIONS', 200],
    ],
    { credentials },
    ['reachable', 'verified', 200],
  ],
  [
    'takes it and finds nobody',
    [
      ['OPTIONS', 401, challenge],
      ['OPTIONS', 404],
    ],
    { credentials },
    ['reachable', 'verified', 404],
  ],
  [
    'refuses the password',
    [
      ['OPTIONS', 401, challenge],
      ['OPTIONS', 401, challenge],
    ],
    { credentials },
    ['reachable', 'rejected', 401],
  ],
  [
    'forbids after it',
    [
      ['OPTIONS', 401, challenge],
      ['OPTIONS', 403],
    ],
    { credentials },
    ['reachable', 'unverified', 403],
  ],
  ['asks for one', [['OPTIONS', 401, challenge]], {}, ['reachable', 'not_given', 401]],
  [
    'asks for one at REGISTER only',
    [
      ['OPTIONS', 200],
      ['REGISTER', 401, challenge],
      ['REGISTER', 200],
    ],
    { credentials, verifiesCredentials: true },
    ['reachable', 'verified', 200],
  ],
  [
    'refuses it at REGISTER',
    [
      ['OPTIONS', 200],
      ['REGISTER', 401, challenge],
      ['REGISTER', 401, challenge],
    ],
    { credentials, verifiesCredentials: true },
    ['reachable', 'rejected', 401],
  ],
  [
    'forbids to register',
    [
      ['OPTIONS', 200],
      ['REGISTER', 401, challenge],
      ['REGISTER', 403],
    ],
    { credentials, verifiesCredentials: true },
    ['reachable', 'unverified', 200],
  ],
  [
    'does not register',
    [
      ['OPTIONS', 200],
      ['REGISTER', 405],
    ],
    { credentials, verifiesCredentials: true },
    ['reachable', 'unverified', 200],
  ],
])('a peer that %s', async (_what, said, options, expected) => {
  const { report, requests } = await probed(said, options);
  expect([report.reachability, report.credentials, report.status]).toEqual(expected);
  expect(report.roundTripMs).toBeGreaterThan(0);
  // A REGISTER without Contact binds nothing.
  expect(requests.some((request) => request.headers.has('contact'))).toBe(false);
});

test('a UDP port that nobody listens on shows at once', async () => {
  const agent = await startAgent();
  const report = await agent.probe({ uri: 'sip:127.0.0.1:1', timeoutMs: 3_600_000 });
  expect(report).toMatchObject({ reachability: 'refused', target: { address: '127.0.0.1', port: 1 } });
});

test('what is wrong has a name', async () => {
  const agent = await startAgent({ mayConnect: (address) => address !== '127.0.0.2' });
  const reachability = async (uri: string) => (await agent.probe({ uri, timeoutMs: 100 })).reachability;
  expect(await reachability('what')).toBe('invalid');
  expect(await reachability('sip:no-such-host.invalid')).toBe('dns');
  expect(await reachability('sip:127.0.0.2')).toBe('not_allowed');
  expect(await reachability('sip:127.0.0.1:1;transport=tcp')).toBe('refused');
  const silent = await startRawPeer();
  expect(await reachability(`sip:127.0.0.1:${silent.port}`)).toBe('timeout');
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  expect(await reachability(`sip:127.0.0.1:${port};transport=tcp`)).toBe('timeout');
  expect(await reachability(`sip:127.0.0.1:${port};transport=tls`)).toBe('tls');
  server.close();
});

test('of several targets the first that answers counts', async () => {
  const peer = await startRawPeer();
  const agent = await startAgent({
    resolver: {
      srv: async () => ({ records: [], ttlSeconds: 1 }),
      addresses: async (_name, family) => ({ records: family === 4 ? ['127.0.0.3', '127.0.0.1'] : [], ttlSeconds: 1 }),
    },
  });
  const report = agent.probe({ uri: `sip:trunk.example.com:${peer.port}` });
  peer.respond(await peer.request('OPTIONS'), 200);
  expect(await report).toMatchObject({ reachability: 'reachable', target: { address: '127.0.0.1' } });
});

test('targets that are given are asked only as far as they are granted', async () => {
  const peer = await startRawPeer();
  let granted: string[] = [];
  const agent = await startAgent({
    grant: async (_asker, host, targets) =>
      host === 'trunk.example.com' ? targets.filter(({ address }) => granted.includes(address)) : [],
  });
  const target = { transport: 'udp' as const, address: '127.0.0.1', port: peer.port };
  const what = { uri: 'sip:trunk.example.com', asker: 'ada', targets: [{ ...target, address: '127.0.0.9' }, target] };
  expect(await agent.probe(what)).toMatchObject({ reachability: 'not_granted' });
  expect(peer.has('OPTIONS')).toBe(false);
  granted = ['127.0.0.1'];
  const report = agent.probe(what);
  peer.respond(await peer.request('OPTIONS'), 200);
  expect(await report).toMatchObject({ reachability: 'reachable', target });
});

const authority = createAuthority();

test.runIf(authority)('TLS: the certificate must bear the name, and come from who is trusted', async () => {
  const own = authority!.issue('DNS:right.example.com,IP:127.0.0.1');
  const server = await startAgent({ tls: { ...own, port: 0 } });
  const resolver = {
    srv: async () => ({ records: [], ttlSeconds: 1 }),
    addresses: async (_name: string, family: 4 | 6) => ({ records: family === 4 ? ['127.0.0.1'] : [], ttlSeconds: 1 }),
  };
  const agent = await startAgent({ resolver, tls: { ca: authority!.ca } });
  const report = (host: string) => agent.probe({ uri: `sip:${host}:${server.tlsPort}`, transport: 'tls' });
  expect((await report('right.example.com')).reachability).toBe('reachable');
  expect((await report('127.0.0.1')).reachability).toBe('reachable');
  const wrong = await report('wrong.example.com');
  expect(wrong.reachability).toBe('tls');
  expect(wrong.message).toContain('wrong.example.com');
  // Not even by the connection that is open with the right name.
  expect((await report('wrong.example.com')).reachability).toBe('tls');
  const strict = await startAgent({ resolver });
  expect(await strict.probe({ uri: `sip:right.example.com:${server.tlsPort}`, transport: 'tls' })).toMatchObject({
    reachability: 'tls',
  });
  const call = await agent.invite({
    to: `sip:a@wrong.example.com:${server.tlsPort}`,
    from: 'sip:a@b',
    transport: 'tls',
  }).ended;
  expect(call).toMatchObject({ kind: 'not_sent', code: 'tls' });
});
