import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

// Debian's chromium, driven by its own protocol: https://chromedevtools.github.io/devtools-protocol/

export const hasChromium = spawnSync('chromium', ['--version']).status === 0;

interface Exception {
  text: string;
  exception?: { description?: string };
}
/** What the browser tells by itself, as far as it is listened to. */
interface Told {
  method: string;
  params: {
    type?: string;
    args?: { value?: string; description?: string }[];
    entry?: { level: string; text: string; url?: string };
    exceptionDetails?: Exception;
    request?: { url: string };
  };
}
/** What it answers. */
interface Answer {
  targetId?: string;
  sessionId?: string;
  data?: string;
  result?: { value: unknown };
  exceptionDetails?: Exception;
}
const wordsOf = ({ text, exception }: Exception) => exception?.description ?? text;

/** A page of a browser. */
export interface Page {
  /** Opens an address, and waits until it is loaded. */
  open(url: string): Promise<void>;
  /** How many pixels it shows, and whether it is dark around. */
  size(width: number, height: number, dark?: boolean): Promise<void>;
  /** Runs a script, and returns what it comes to. */
  run<Value>(script: string): Promise<Value>;
  /** What is to be seen. */
  picture(format?: 'png' | 'webp'): Promise<Buffer>;
  /** Errors of the console, and addresses that were asked for, since this was called last. */
  told(): { errors: string[]; asked: string[] };
}

/** Starts a browser without a window. @param more options of Chromium */
export async function startBrowser(more: readonly string[] = []) {
  const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-chromium-'));
  const options = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'];
  const child = spawn('chromium', [...options, ...more, `--user-data-dir=${folder}`, '--remote-debugging-port=0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const socket = new WebSocket(await addressOf(createInterface({ input: child.stderr })));
  await once(socket, 'open');
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  const listeners = new Map<string, (told: Told) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result, error, sessionId, ...told } = JSON.parse(data as string);
    if (id === undefined) return listeners.get(sessionId)?.(told);
    const asked = waiting.get(id)!;
    waiting.delete(id);
    if (error) asked.reject(new Error(error.message));
    else asked.resolve(result);
  };
  let last = 0;
  const send = (method: string, params: object = {}, sessionId?: string) =>
    new Promise<Answer>((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  return {
    async page(): Promise<Page> {
      const { targetId } = await send('Target.createTarget', { url: 'about:blank', newWindow: true });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      const listen = (listener: (told: Told) => void) => listeners.set(sessionId!, listener);
      return openPage((method, params) => send(method, params, sessionId), listen);
    },
    async stop() {
      const closed = once(child, 'close');
      child.kill();
      await closed;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function addressOf(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const [, address] = /DevTools listening on (ws:\S+)/.exec(line) ?? [];
    if (address) return address;
  }
  throw new Error('The browser has ended before it listened.');
}

async function openPage(
  send: (method: string, params?: object) => Promise<Answer>,
  listen: (listener: (told: Told) => void) => void,
): Promise<Page> {
  let errors: string[] = [];
  let asked: string[] = [];
  let loaded = () => {};
  listen(({ method, params }) => {
    const { type, args = [], entry, exceptionDetails, request } = params;
    if (method === 'Page.loadEventFired') loaded();
    if (method === 'Network.requestWillBeSent') asked.push(request!.url);
    if (method === 'Runtime.exceptionThrown') errors.push(wordsOf(exceptionDetails!));
    if (method === 'Log.entryAdded' && entry!.level === 'error') errors.push(`${entry!.text} ${entry!.url ?? ''}`);
    if (method === 'Runtime.consoleAPICalled' && type === 'error')
      errors.push(args.map((each) => each.value ?? each.description).join(' '));
  });
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await send(`${domain}.enable`);
  return {
    async open(url) {
      const done = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await send('Page.navigate', { url });
      await done;
    },
    async size(width, height, dark = false) {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
      const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
      await send('Emulation.setEmulatedMedia', { features });
    },
    async run(expression) {
      const params = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await send('Runtime.evaluate', params);
      if (exceptionDetails) throw new Error(wordsOf(exceptionDetails));
      return result!.value as never;
    },
    async picture(format = 'png') {
      const { data } = await send('Page.captureScreenshot', { format, ...(format === 'webp' && { quality: 60 }) });
      return Buffer.from(data!, 'base64');
    },
    told() {
      const told = { errors, asked };
      [errors, asked] = [[], []];
      return told;
    },
  };
}
