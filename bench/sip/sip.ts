import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../at-end.ts';
import { forkServer } from '../child.ts';
import { cpuOf } from '../processes.ts';
import { untilQuiet } from '../quiet.ts';
import type { Found } from '../table.ts';
import type { Calls, CallsFound } from './caller.ts';

const ports = { callee: 24_060, caller: 24_070 };
/** Two minutes long: code is compiled and memory collected as in a server that runs. */
const short: Calls = { count: 12_000, perSecond: 100, holdMs: 1000 };
/** The first call ends after the last is answered. */
const many: Calls = { count: 3000, perSecond: 100, holdMs: 32_000 };

function startSipp(args: string[]): ChildProcess {
  const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-bench-sip-'));
  const child = spawn('sipp', [...args, '-i', '127.0.0.1', '-nostdin'], { cwd: folder, stdio: 'ignore' });
  atEnd(async () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  return child;
}

/** sipp as the caller: CPU of its process. Calls that fail make it end with an error. */
async function callWithSipp({ count, perSecond, holdMs }: Calls): Promise<number> {
  const rate = ['-r', String(perSecond), '-m', String(count), '-d', String(holdMs), '-l', String(count)];
  const target = ['-sn', 'uac', `127.0.0.1:${ports.callee}`, '-p', String(ports.caller), '-mp', '24100'];
  const child = startSipp([...target, ...rate]);
  let seconds = 0;
  const ended = once(child, 'exit');
  while (child.exitCode === null) {
    seconds = (await cpuOf(child.pid!)).get(child.pid!) ?? seconds;
    await Promise.race([ended, sleep(100)]);
  }
  if (child.exitCode !== 0) throw new Error(`sipp ended with ${child.exitCode}: not all calls were complete.`);
  return seconds * 1000;
}

/** Calls that are placed, answered, acknowledged and hung up, to a sipp that answers all: CPU of the caller. */
export async function benchSip(): Promise<Found> {
  const callee = startSipp(['-sn', 'uas', '-p', String(ports.callee), '-mp', '24200']);
  await Promise.race([
    sleep(1000),
    once(callee, 'error').then(([error]) => {
      throw new Error(`There is no sipp (apt install sip-tester): ${error}`);
    }),
  ]);
  const callWithOurs = async (calls: Calls) => {
    // In a process of its own, so that none grows into what another has left.
    const caller = await forkServer(new URL('./caller.ts', import.meta.url), { callee: ports.callee });
    await caller.ask<CallsFound>({ ...short, count: 500 });
    const found = await caller.ask<CallsFound>(calls);
    await caller.end();
    console.error(`  ${JSON.stringify({ ...calls, ...found })}`);
    if (found.completed < calls.count)
      throw new Error(`Only ${found.completed} of ${calls.count} calls were complete.`);
    return found;
  };
  await untilQuiet();
  const ours = (await callWithOurs(short)).cpuMs / short.count;
  await untilQuiet();
  const theirs = (await callWithSipp(short)) / short.count;
  console.error(`  sipp: ${theirs} ms a call`);
  const full = await callWithOurs(many);
  return {
    rows: [{ what: 'calls over SIP, 100 /s, CPU a call', ours, peer: 'sipp as the caller', theirs, unit: 'ms' }],
    costs: [
      { what: 'calls over SIP, 100 /s, CPU a call', value: ours, unit: 'ms', aim: '≤ 0.6 ms' },
      { what: 'calls over SIP, 3,000 up, CPU a call', value: full.cpuMs / many.count, unit: 'ms', aim: '≤ 0.6 ms' },
      { what: 'calls over SIP, most up at once', value: full.mostUp, unit: '', aim: '3,000' },
      { what: 'calls over SIP, 3,000 up, memory a call', value: full.kib, unit: 'KiB' },
    ],
  };
}
