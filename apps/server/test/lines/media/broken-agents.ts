import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** The ways in which `broken-agent.ts` is broken. */
export type Fault = 'key_refused' | 'hangs_up' | 'crashes' | 'mute' | 'speaks';

/** A broken agent in a process of its own. */
export interface BrokenAgent extends AsyncDisposable {
  url: string;
  process: ChildProcess;
}

/** Starts one. @param behind what it is started by, in a network of its own, and its address there */
export async function startBrokenAgent(
  fault: Fault,
  behind: { program: readonly string[]; host: string } = { program: [], host: '127.0.0.1' },
): Promise<BrokenAgent> {
  const file = path.join(import.meta.dirname, 'broken-agent.ts');
  const [program, ...args] = [...behind.program, process.execPath, '--conditions=source', file, fault, behind.host];
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
