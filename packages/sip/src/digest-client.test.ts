import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { TestClock } from '../test/test-clock.ts';
import { requestOf, responseTo } from '../test/transaction-stand.ts';
import { digestResponse, parseDigest } from './challenge.ts';
import { DigestClient, type Tries } from './digest-client.ts';
import { DigestServer } from './digest-server.ts';
import { systemRandom } from './random.ts';

const credentials = { username: 'Mufasa', password: 'Circle of Life' };
const challenge = (status: 401 | 407, ...values: string[]) => {
  const response = responseTo(requestOf('INVITE'), status);
  for (const value of values) response.headers.add(status === 401 ? 'www-authenticate' : 'proxy-authenticate', value);
  return response;
};
const md5 = 'Digest realm="a", nonce="n1", algorithm=MD5, qop="auth,auth-int", opaque="o"';
const sha256 = 'Digest realm="a", nonce="n2", algorithm=SHA-256, qop="auth"';

const given = (client: DigestClient, method = 'INVITE', header = 'authorization') => {
  const request = requestOf(method);
  client.authorize(request);
  return request.headers.all(header).map((value) => parseDigest(value)!);
};

test.each([
  ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
] as const)('the example of RFC 7616 section 3.9.1: %s', (algorithm, response) => {
  const qop = { nonceCount: '00000001', clientNonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ' };
  const nonce = '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v';
  const common = { ...credentials, realm: 'http-auth@example.org', nonce, method: 'GET', uri: '/dir/index.html', qop };
  expect(digestResponse({ ...common, algorithm })).toBe(response);
});

test('an old challenge without qop, and -sess', () => {
  const hash = (text: string) => createHash('md5').update(text).digest('hex');
  const input = { username: 'u', password: 'p', realm: 'r', nonce: 'n', method: 'BYE', uri: 'sip:a' };
  const a2 = hash('BYE:sip:a');
  expect(digestResponse({ ...input, algorithm: 'MD5' })).toBe(hash(`${hash('u:r:p')}:n:${a2}`));
  const qop = { nonceCount: '00000001', clientNonce: 'c' };
  const a1 = hash(`${hash('u:r:p')}:n:c`);
  expect(digestResponse({ ...input, algorithm: 'MD5-sess', qop })).toBe(hash(`${a1}:n:00000001:c:auth:${a2}`));
});

test('the strongest challenge is answered, in whatever order they stand, and the nonce counts on', () => {
  for (const values of [
    [md5, sha256],
    [sha256, md5],
    [md5, 'Digest realm="a", nonce="n", algorithm=SHA-3', sha256],
  ]) {
    const client = new DigestClient(credentials, systemRandom);
    expect(client.learn(challenge(401, ...values), new Map())).toBe(true);
    expect(given(client).map((each) => [each.get('algorithm'), each.get('nc'), each.get('qop')])).toEqual([
      ['SHA-256', '00000001', 'auth'],
    ]);
    expect(given(client, 'BYE')[0]!.get('nc')).toBe('00000002');
  }
});

test('a realm that has asked for SHA-256 gets no MD5 afterwards', () => {
  const client = new DigestClient(credentials, systemRandom);
  client.learn(challenge(401, sha256), new Map());
  expect(client.learn(challenge(401, md5), new Map())).toBe(false);
  expect(given(client)[0]!.get('algorithm')).toBe('SHA-256');
});

test('two proxies and a server are answered each for itself', () => {
  const client = new DigestClient(credentials, systemRandom);
  const tries: Tries = new Map();
  client.learn(challenge(407, md5, sha256.replace('"a"', '"b"')), tries);
  client.learn(challenge(401, md5), tries);
  expect(given(client, 'INVITE', 'proxy-authorization').map((each) => each.get('realm'))).toEqual(['a', 'b']);
  expect(given(client).map((each) => each.get('opaque'))).toEqual(['o']);
});

test('a password that is wrong is tried once, a nonce that is stale three times', () => {
  const client = new DigestClient(credentials, systemRandom);
  const tries: Tries = new Map();
  expect(client.learn(challenge(401, md5), tries)).toBe(true);
  expect(client.learn(challenge(401, md5.replace('n1', 'n3')), tries)).toBe(false);
  const stale: Tries = new Map();
  const answers = [1, 2, 3, 4].map((n) =>
    client.learn(challenge(401, `${md5.replace('n1', `s${n}`)}, stale=TRUE`), stale),
  );
  expect(answers).toEqual([true, true, true, false]);
});

test('nothing is answered without credentials, to what is no digest, and to auth-int alone', () => {
  expect(new DigestClient(undefined, systemRandom).learn(challenge(401, md5), new Map())).toBe(false);
  const client = new DigestClient(credentials, systemRandom);
  for (const value of ['Basic realm="a"', 'Digest realm="a"', 'Digest realm="a", nonce="n", qop="auth-int"', 'Digest'])
    expect(client.learn(challenge(401, value), new Map())).toBe(false);
  expect(given(client)).toEqual([]);
});

test('a value with quotes and backslashes is written so that it is read again', () => {
  const client = new DigestClient({ username: 'a"b\\c', password: 'p' }, systemRandom);
  client.learn(challenge(401, 'Digest realm="x \\"y\\"", nonce="n", qop=auth'), new Map());
  expect(given(client)[0]!.get('username')).toBe('a"b\\c');
  expect(given(client)[0]!.get('realm')).toBe('x "y"');
});

const source = { transport: 'udp', address: '198.51.100.7', port: 5060 } as const;

test('the server takes each count of a nonce once, for one Call-ID and address, for a minute, and no other secret', async () => {
  const clock = new TestClock();
  const asked: string[] = [];
  const authentication = {
    realm: 'example.com',
    passwordOf: (name: string) => {
      asked.push(name);
      return name === 'Mufasa' ? 'Circle of Life' : undefined;
    },
  };
  const server = new DigestServer(authentication, Buffer.from('secret'), clock);
  const challenged = (callId: string, isStale = false) => {
    const request = requestOf('INVITE');
    request.headers.set('call-id', callId);
    return { request, response: challenge(401, ...server.challenges(request, source, isStale)) };
  };
  const { request, response } = challenged('one');
  const client = new DigestClient(credentials, systemRandom);
  client.learn(response, new Map());
  client.authorize(request);
  expect(await server.judge(request, source)).toEqual({ isAuthentic: true, username: 'Mufasa' });
  expect(await server.judge(request, source)).toEqual({ isAuthentic: false, isStale: true });
  client.authorize(request);
  request.headers.set('call-id', 'two');
  expect(await server.judge(request, source)).toMatchObject({ isAuthentic: false });
  request.headers.set('call-id', 'one');
  const before = asked.length;
  expect(await server.judge(request, { ...source, address: '198.51.100.8' })).toEqual({
    isAuthentic: false,
    isStale: false,
  });
  expect(asked).toHaveLength(before);
  await clock.advance(59_999);
  client.authorize(request);
  expect(await server.judge(request, source)).toMatchObject({ isAuthentic: true });
  client.authorize(request);
  await clock.advance(1);
  expect(await server.judge(request, source)).toEqual({ isAuthentic: false, isStale: true });
  expect(challenged('one', true).response.headers.get('www-authenticate')).toContain('stale=true');

  for (const wrong of [
    { username: 'Mufasa', password: 'guess' },
    { username: 'Nala', password: 'Circle of Life' },
  ]) {
    const other = challenged('three');
    const stranger = new DigestClient(wrong, systemRandom);
    stranger.learn(other.response, new Map());
    stranger.authorize(other.request);
    expect(await server.judge(other.request, source)).toEqual({ isAuthentic: false, isStale: false });
  }
  expect(await server.judge(requestOf('INVITE'), source)).toEqual({ isAuthentic: false, isStale: false });
});
