import { request } from 'node:http';
import type { components } from '../../../src/foundation/values/generated/contract.ts';
import type { TestServer } from '../../server.ts';

/** The fields that tests of sessions look at; which of them came is for the test to say. */
interface Told {
  code: string;
  error: string;
  data: components['schemas']['CurrentSession'] & { url: string; items: components['schemas']['Session'][] };
}

/** What a test's browser was answered. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Told;
}

/** Sends a request with the headers that a browser would set itself, which `fetch` of Node doesn't let one set. */
export function send(
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      url + path,
      { method, headers: { ...(text && { 'Content-Type': 'application/json' }), ...headers } },
      async (response) => {
        let answer = '';
        for await (const chunk of response) answer += chunk;
        const isJson = response.headers['content-type'] === 'application/json';
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: isJson ? JSON.parse(answer) : answer,
        });
      },
    );
    sent.on('error', reject).end(text);
  });
}

/** The pair that a browser sends back of the cookie that an answer sets. */
export const cookieOf = ({ headers }: Answer): string => headers['set-cookie']![0]!.split(';')[0]!;

/** A browser that bears a cookie, whose pages are of the server. */
export interface Browser {
  cookie: string;
  origin: string;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** A browser with this cookie. */
export function browserWith(server: Pick<TestServer, 'url'>, cookie: string): Browser {
  const origin = server.url;
  return {
    cookie,
    origin,
    ask: (method, path, body, headers = {}) =>
      send(server.url, method, path, {
        body,
        headers: {
          Host: new URL(origin).host,
          Cookie: cookie,
          ...(method === 'GET' ? { 'Sec-Fetch-Site': 'same-origin' } : { Origin: origin }),
          ...headers,
        },
      }),
  };
}

/** A browser that is signed in with a key. */
export async function signIn(server: Pick<TestServer, 'url'>, apiKey: string) {
  const origin = server.url;
  const headers = { Host: new URL(origin).host, Origin: origin };
  const signedIn = await send(server.url, 'POST', '/v1/sessions', { body: { apiKey }, headers });
  if (signedIn.status !== 201) throw new Error(JSON.stringify(signedIn.body));
  const session = signedIn.body.data as { id: string; permissions: string[]; expiresAt: string };
  return { ...browserWith(server, cookieOf(signedIn)), session };
}
