import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listening, listen } from '../../../src/foundation/http/listen.ts';
import { OUTSIDE_PATHS } from '../../../src/foundation/http/outside.ts';
import { answerUnreadable } from '../../../src/foundation/http/unreadable.ts';
import { startTestServer, type TestServer } from '../../server.ts';

const ID = /^X-Request-Id: [0-9a-f]{32}\r$/m;
let listening: Listening;
let server: TestServer;

beforeAll(async () => {
  listening = await listen(0, '127.0.0.1');
  listening.serve((_request, response) => response.end('fine'));
  server = await startTestServer();
});
afterAll(async () => {
  await server.stop();
  await listening.close(0);
});

/** All that comes back for some bytes, until the server closes the connection. */
async function answerTo(bytes: string): Promise<string> {
  const socket = connect(listening.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk)).on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

test('what is no request is answered as every other fault is, with an ID', async () => {
  const close = 'Connection: close\r\n\r\n';
  const answers = [
    [400, await answerTo('NONSENSE\r\n\r\n')],
    [400, await answerTo(`GET / HTTP/1.1\r\n${close}`)],
    [431, await answerTo(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n${close}`)],
  ] as const;
  for (const [status, text] of answers) {
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(text).toMatch(ID);
    expect(text).toContain('X-Content-Type-Options: nosniff');
    expect(JSON.parse(text.split('\r\n\r\n')[1]!)).toMatchObject({ code: 'invalid_request' });
  }
  expect(await answerTo(`GET / HTTP/1.1\r\nHost: x\r\nExpect: more\r\n${close}`)).toContain('fine');
});

test('a server that is starting is alive, with an ID', async () => {
  const starting = await listen(0, '127.0.0.1');
  const alive = await fetch(`http://127.0.0.1:${starting.port}/livez`);
  expect([alive.status, await alive.text()]).toEqual([200, 'ok\n']);
  expect(alive.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  expect(alive.headers.get('x-content-type-options')).toBe('nosniff');
  await starting.close(0);
});

test('a request that does not come in time is 408; an answer that has begun is cut off', () => {
  const socketOf = (headersSent: boolean) => {
    const done: string[] = [];
    const act = (name: string) => (text?: string) => void done.push(text ?? name);
    const socket = { writable: true, _httpMessage: { headersSent } };
    Object.assign(socket, { write: act('write'), destroy: act('destroy'), destroySoon: act('destroySoon') });
    answerUnreadable(Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket as unknown as Socket);
    return done;
  };
  const [text, end] = socketOf(false);
  expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"code":"request_timeout"/s);
  expect(text).toMatch(ID);
  expect(end).toBe('destroySoon');
  expect(socketOf(true)).toEqual(['destroy']);
});

test('whatever is answered bears an ID, and is taken for nothing that it does not say it is', async () => {
  for (const path of [...OUTSIDE_PATHS, '/objects/a?signature=x', '/nothing', '/v1/nothing', '/v1/workspace']) {
    const { headers } = await fetch(server.url + path, { redirect: 'manual' });
    expect([path, headers.get('x-request-id'), headers.get('x-content-type-options')]).toEqual([
      path,
      expect.stringMatching(/^[0-9a-f]{32}$/),
      'nosniff',
    ]);
  }
});
