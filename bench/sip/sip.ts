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
import { median } from '../rounds.ts';
import type { Found } from '../table.ts';
import type { Calls, CallsFound } from './caller.ts';

const ROUNDS = 2;
const ports = { callee: 24_060, caller: 24_070 };
const short: Calls = { count: 2000, perSecond: 100, holdMs: 1000 };
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
  const caller = await forkServer(new URL('./caller.ts', import.meta.url), { callee: ports.callee });
  const callWithOurs = async (calls: Calls) => {
    const found = await caller.ask<CallsFound>(calls);
    console.error(`  ${JSON.stringify({ ...calls, ...found })}`);
    if (found.completed < calls.count)
      throw new Error(`Only ${found.completed} of ${calls.count} calls were complete.`);
    return found;
  };
  await callWithOurs({ ...short, count: 500 });
  const rounds: { ours: number; theirs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await untilQuiet();
    const ours = (await callWithOurs(short)).cpuMs / short.count;
    await untilQuiet();
    const theirs = (await callWithSipp(short)) / short.count;
    rounds.push({ ours, theirs });
    console.error(`  sipp: ${theirs} ms a call`);
  }
  const full = await callWithOurs(many);
  const [ours, theirs] = [median(rounds.map((each) => each.ours)), median(rounds.map((each) => each.theirs))];
  return {
    rows: [{ what: 'calls over SIP, 100 /s, CPU a call', ours, peer: 'sipp as the caller', theirs, unit: 'ms' }],
    costs: [
      { what: 'calls over SIP, 100 /s, CPU a call', value: ours, unit: 'ms', aim: '≤ 0.6 ms' },
      { what: 'calls over SIP, 3,000 up, CPU a call', value: full.cpuMs / many.count, unit: 'ms', aim: '≤ 0.6 ms' },
      { what: 'calls over SIP, most up at once', value: full.mostUp, unit: '', aim: '3,000' },
    ],
  };
}
