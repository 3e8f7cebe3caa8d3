import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** The ways in which `broken-agent.ts` is broken. */
export type Fault = 'key_refused' | 'hangs_up' | 'crashes' | 'freezes' | 'mute' | 'speaks';

/** A broken agent in a process of its own. */
export interface BrokenAgent extends AsyncDisposable {
  url: string;
  process: ChildProcess;
}

interface Behind {
  /** What it is started by in a network of its own. */
  program: readonly string[];
  /** Its address there. */
  host: string;
}

const loopback: Behind = { program: [], host: '127.0.0.1' };

/** Starts one. @param port nothing for one that is free */
export async function startBrokenAgent(fault: Fault, behind = loopback, port = '0'): Promise<BrokenAgent> {
  const file = path.join(import.meta.dirname, 'broken-agent.ts');
  const node = [process.execPath, '--conditions=source', file, fault, behind.host, port];
  const [program, ...args] = [...behind.program, ...node];
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url,
    process: child,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** The same, started again at its port whenever it has crashed, as a supervisor does it. */
export async function startSupervised(fault: Fault): Promise<BrokenAgent> {
  let agent = await startBrokenAgent(fault);
  let isOver = false;
  const { url } = agent;
  const watch = () =>
    agent.process.once('exit', async () => {
      if (isOver) return;
      agent = await startBrokenAgent(fault, loopback, new URL(url).port);
      if (isOver) return agent[Symbol.asyncDispose]();
      return watch();
    });
  watch();
  return {
    url,
    process: agent.process,
    [Symbol.asyncDispose]: () => {
      isOver = true;
      return agent[Symbol.asyncDispose]();
    },
  };
}
