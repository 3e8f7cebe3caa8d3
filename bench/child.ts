import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { atEnd } from './at-end.ts';

/** A server in a process of its own. */
export interface Child {
  port: number;
  pid: number;
  /** CPU time that the process has used, in microseconds. */
  cpu(): Promise<number>;
  /** Resident memory of the process in bytes, after a collection: what is left behind is no need. */
  memory(): Promise<number>;
  /** What the process answers to a question of its own kind. One at a time. */
  ask<Answer>(question: object): Promise<Answer>;
  /** Ends it at once. */
  end(): Promise<void>;
}

/** What `npm start` and the command start the server with. */
export const SERVER_OPTIONS = ['--max-semi-space-size=8'];

/** Starts a whole Trunkline server with these variables. It ends with the measurement. */
export const forkTrunkline = (environment: Record<string, string>): Promise<Child> =>
  forkServer(new URL('./server.ts', import.meta.url), environment, SERVER_OPTIONS);

/** Forks a file that calls `serve`, which finds `settings` by `settingsOf`. It ends with the measurement. */
export async function forkServer(file: URL, settings: object, nodeOptions: readonly string[] = []): Promise<Child> {
  const child = fork(fileURLToPath(file), [JSON.stringify(settings)], {
    execArgv: ['--conditions=source', ...nodeOptions],
  });
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  atEnd(end);
  let ended = (_error: Error) => {};
  child.once('exit', (code, signal) => ended(new Error(`The server ended with ${signal ?? code}.`)));
  const answer = <Answer>() =>
    new Promise<Answer>((resolve, reject) => {
      ended = reject;
      child.once('message', (message) => resolve(message as Answer));
    });
  const port = await answer<number>();
  const ask = <Answer>(question: object | 'cpu' | 'memory') => {
    const answered = answer<Answer>();
    child.send(question);
    return answered;
  };
  return { port, pid: child.pid!, cpu: () => ask('cpu'), memory: () => ask('memory'), ask, end };
}

/** In the child, before all else: what it was given. From then on it ends with its parent. */
export function settingsOf<T>(): T {
  endWithParent();
  return JSON.parse(process.argv[2]!) as T;
}

/** However the parent ends: nobody else would end a server that has not told its port yet. */
function endWithParent(): void {
  if (!process.connected) process.exit();
  process.on('disconnect', () => process.exit());
}

/** In the child: tells the port, and the CPU time and the memory whenever asked. */
export async function serve(server: Server): Promise<void> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  tell((server.address() as AddressInfo).port);
}

/** The same, for a server that listens already, or does something else that it can be asked about. */
export function tell(port: number, answer?: (question: object) => Promise<unknown>): void {
  endWithParent();
  process.on('message', async (question) => {
    if (answer && typeof question === 'object' && question) return void process.send!(await answer(question));
    if (question === 'memory') return void process.send!(memoryNeeded());
    const { user, system } = process.cpuUsage();
    process.send!(user + system);
  });
  process.send!(port);
}

function memoryNeeded(): number {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as NodeJS.GCFunction;
  // As a last resort, or V8 keeps the pages that it has emptied for some 20 s more.
  const collect = () => gc({ type: 'major', flavor: 'last-resort' });
  // The second collects what finalizers of the first let go.
  collect();
  collect();
  return process.memoryUsage.rss();
}
