import { spawn } from 'node:child_process';
import { program } from './program.ts';

/** A server in a process of its own, which a test may kill. */
export interface ServerProcess {
  url: string;
  pid: number;
  /** What it has written to standard error so far. */
  log(): string;
  /** Asks it to end, and resolves when it is gone. */
  stop(): Promise<void>;
  /** Ends it as a power cut would. Resolves when it is gone. */
  kill(): Promise<void>;
}

/**
 * Starts `trunkline-server serve` with these variables, and waits until it is ready.
 * @param main what Node is given to run, this version by default
 */
export async function startServerProcess(environment: Record<string, string>, main?: string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...(main ?? (await program('main'))), 'serve'], {
    env: {
      PATH: process.env['PATH'],
      // What is made of a copy nobody reads again, and it takes longer to write than to make.
      ...(!main && { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
      PORT: '0',
      HOST: '127.0.0.1',
      RATE_LIMIT_PER_MINUTE: '0',
      POOL_SIZE: '4',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('\n')) resolve(JSON.parse(output.split('\n')[0]!).url);
    });
    void ended.then(() => reject(new Error(errors)));
  });
  return {
    url,
    pid: child.pid!,
    log: () => errors,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}
