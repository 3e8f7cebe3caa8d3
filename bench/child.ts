import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';

/** A server in a process of its own. */
export interface Child {
  port: number;
  pid: number;
  /** CPU time that the process has used, in microseconds. */
  cpu(): Promise<number>;
  /** Ends it at once. */
  end(): Promise<void>;
}

/** What `npm start` and the command start the server with. */
const SERVER_OPTIONS = ['--max-semi-space-size=8'];

/** Starts a whole Trunkline server with these variables. It ends with the measurement. */
export const forkTrunkline = (environment: Record<string, string>): Promise<Child> =>
  forkServer(new URL('./server.ts', import.meta.url), environment, SERVER_OPTIONS);

/** Forks a file that calls `serve`, which finds `settings` by `settingsOf`. It ends with the measurement. */
export async function forkServer(file: URL, settings: object, nodeOptions: string[] = []): Promise<Child> {
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
  const answer = () =>
    new Promise<number>((resolve, reject) => {
      ended = reject;
      child.once('message', (message) => resolve(message as number));
    });
  const port = await answer();
  return {
    port,
    pid: child.pid!,
    cpu: () => {
      const answered = answer();
      child.send('cpu');
      return answered;
    },
    end,
  };
}

/** In the child: what it was given. */
export const settingsOf = <T>(): T => JSON.parse(process.argv[2]!) as T;

/** In the child: tells the port, and the CPU time whenever asked; ends with its parent. */
export async function serve(server: Server): Promise<void> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  tell((server.address() as AddressInfo).port);
}

/** The same, for a server that listens already. */
export function tell(port: number): void {
  process.on('disconnect', () => process.exit());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send!(user + system);
  });
  process.send!(port);
}
