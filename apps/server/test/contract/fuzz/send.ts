import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { FuzzRequest } from './requests.ts';
import { harmed, sendBytes } from './wire.ts';

/** How long an answer may take before it counts as none, in milliseconds. */
const PATIENCE_MS = 60_000;

/** What came of a request. */
export interface Answered {
  status: number;
  type: string;
  /** Nothing of a stream, which is let go at once. */
  text: string;
  requestId: string | undefined;
}

/** Sends requests to a server over a few connections that stay. */
export function createSender(baseUrl: string, apiKey: string, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(baseUrl);
  const send = (request: FuzzRequest): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const { method, path, headers, body, isBinary } = request;
      const bytes = body === undefined ? undefined : Buffer.from(body, isBinary ? 'latin1' : 'utf8');
      const sent = httpRequest({
        ...{ agent, hostname, port, method, path, timeout: PATIENCE_MS },
        headers: { ...credentials(apiKey, headers), ...headers, ...(bytes && { 'Content-Length': bytes.length }) },
      });
      sent.on('response', (response) => readAnswer(response).then(resolve, reject));
      sent.on('timeout', () => sent.destroy(new Error('no answer')));
      // The server may close a connection that rests at the moment when a request goes out on it.
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (sent.reusedSocket && error.code === 'ECONNRESET') send(request).then(resolve, reject);
        else reject(error);
      });
      sent.end(bytes);
    });
  return {
    /** All that is answered: one answer, but where the bytes are harmed. */
    send: async (request: FuzzRequest): Promise<Answered[]> =>
      request.harm ? sendBytes(baseUrl, harmed(request, request.harm, apiKey), PATIENCE_MS) : [await send(request)],
    close: () => agent.destroy(),
  };
}

/** The key, unless a cookie stands in its place. */
const credentials = (apiKey: string, headers: FuzzRequest['headers']) =>
  'Cookie' in headers ? {} : { 'X-API-Key': apiKey };

async function readAnswer(response: IncomingMessage): Promise<Answered> {
  const type = response.headers['content-type'] ?? '';
  const status = response.statusCode!;
  const requestId = [response.headers['x-request-id']].flat()[0];
  if (type.startsWith('text/event-stream')) {
    response.destroy();
    return { status, type, text: '', requestId };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status, type, text: Buffer.concat(chunks).toString(), requestId };
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The request as a command for bash. */
export function asCommand({ url: baseUrl, apiKey }: { url: string; apiKey: string }, request: FuzzRequest): string {
  const { method, path, headers, body, isBinary, harm } = request;
  const { hostname, port } = new URL(baseUrl);
  if (harm) return `printf '${escaped(harmed(request, harm, apiKey))}' | nc ${hostname} ${port}`;
  const sent = Object.entries({ ...credentials(apiKey, headers), ...headers }).flatMap(([name, values]) =>
    [values].flat().map((value) => `-H ${quoted(`${name}: ${value}`)}`),
  );
  const text = isBinary ? `$${quoted(escaped(body!))}` : body !== undefined && quoted(body);
  const data = text === false ? [] : [`--data-binary ${text}`];
  return ['curl --path-as-is -g', `-X ${method}`, quoted(baseUrl + path), ...sent, ...data].join(' ');
}

const escaped = (bytes: string) =>
  bytes.replaceAll(/[^ -~]|[\\'%]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
