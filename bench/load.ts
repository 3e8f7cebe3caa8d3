import { connect } from 'node:net';

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
  let sent = 0;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let got = '';
      const next = () => {
        if (sent >= times) return socket.end(resolve);
        sent += 1;
        socket.write(request);
      };
      socket.setNoDelay(true).on('connect', next).on('error', reject);
      socket.on('data', (bytes) => {
        got += bytes.toString('latin1');
        const head = got.indexOf('\r\n\r\n');
        if (head === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(got)?.[1]);
        if (got.length < head + 4 + length) return;
        if (!got.startsWith('HTTP/1.1 200')) return reject(new Error(got));
        got = '';
        next();
      });
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
}
