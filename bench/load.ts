import { keepConnections } from './connections.ts';

/** An HTTP request as it goes over the wire. */
export function requestText(method: string, path: string, headers: Record<string, string>, body?: object): string {
  const text = body ? JSON.stringify(body) : '';
  const all = { Host: 'localhost', Accept: 'application/json', ...headers };
  const withBody = body ? { ...all, 'Content-Type': 'application/json', 'Content-Length': String(text.length) } : all;
  const lines = Object.entries(withBody).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}

const CONNECTIONS = 20;

/** Sends one request `times` over 20 kept connections, on each the next one after the answer. Only 200 is an answer. */
export async function load(port: number, request: string, times: number): Promise<void> {
  const { send, close } = keepConnections(port);
  let sent = 0;
  const one = async () => {
    while (sent < times) {
      sent += 1;
      await send(request, 200);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  close();
}
