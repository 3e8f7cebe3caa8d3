import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Caller, CarrierLine } from './carrier-process.ts';
import type { Arrived, Invited } from './history.ts';

/** A call as the carrier knows it: servers by their ports. */
type Seen<Call> = Omit<Call, 'server'> & { port: number };

/** The carrier that servers call over SIP, and its own record of what came. */
export interface Carrier {
  address: string;
  invited(): Seen<Invited>[];
  /** Has somebody call a server. */
  call(caller: Caller): void;
  arrived(): Seen<Arrived>[];
  stop(): Promise<void>;
}

/** @param prefix a program and its arguments that run it elsewhere, as in another network */
export async function startCarrierProcess(host: string, prefix: readonly string[] = []): Promise<Carrier> {
  const entry = path.join(import.meta.dirname, 'carrier-process.ts');
  const [program, ...args] = [...prefix, process.execPath, '--conditions=source', entry, host];
  const child = spawn(program!, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const calls = new Map<string, Seen<Invited>>();
  const arrived = new Map<string, Seen<Arrived>>();
  let port = 0;
  const take = (line: string) => {
    const { event, at, callId = '', to = 0, from = 0, by, port: its = 0 } = JSON.parse(line) as CarrierLine;
    const call = calls.get(callId) ?? arrived.get(callId);
    if (event === 'ready') port = its;
    else if (event === 'invited') calls.set(callId, calls.get(callId) ?? { callId, to, at, port: its });
    else if (event === 'calling') arrived.set(callId, { callId, from, at, port: its });
    else if (event === 'answered') call!.answeredAt = at;
    else Object.assign(call!, { endedAt: at, ...(by && { endedBy: by }) });
  };
  createInterface(child.stdout!).on('line', take);
  await Promise.race([
    once(child.stdout!, 'data'),
    once(child, 'exit').then(() => {
      throw new Error('The carrier did not start.');
    }),
  ]);
  while (port === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  return {
    address: `${host}:${port}`,
    invited: () => [...calls.values()],
    call: (caller) => void child.send(caller),
    arrived: () => [...arrived.values()],
    stop: async () => {
      // A terminal's Ctrl-C has ended it already.
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}
