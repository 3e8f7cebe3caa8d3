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
import { inTurns, median } from '../rounds.ts';
import type { Found } from '../table.ts';
import type { Calls, CallsFound } from './caller.ts';

const ports = { callee: 24_060, caller: 24_070 };
/** So that code is compiled. */
const warmUp: Calls = { count: 500, perSecond: 100, holdMs: 1000 };
/** A turn: at 100 a second three of them are two minutes. */
const turn = (perSecond: number): Calls => ({ count: 4000, perSecond, holdMs: 1000 });
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

/** A process that places calls, and what it found. All calls must be complete. */
async function startCaller(file: './caller.ts' | './bare.ts') {
  const caller = await forkServer(new URL(file, import.meta.url), { callee: ports.callee });
  const call = async (calls: Calls) => {
    const found = await caller.ask<CallsFound>(calls);
    console.error(`  ${file} ${JSON.stringify({ ...calls, ...found })}`);
    if (found.completed < calls.count)
      throw new Error(`Only ${found.completed} of ${calls.count} calls were complete.`);
    return found;
  };
  return { call, end: caller.end };
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
  const [ours, bare] = [await startCaller('./caller.ts'), await startCaller('./bare.ts')];
  const callers = {
    ours: async (calls: Calls) => (await ours.call(calls)).cpuMs,
    bare: async (calls: Calls) => (await bare.call(calls)).cpuMs,
    sipp: callWithSipp,
  };
  await untilQuiet();
  const costsAt = async (perSecond: number) => {
    const costs = await inTurns(['ours', 'bare', 'sipp'], 3, async (name, isWarmUp) => {
      const calls = isWarmUp ? warmUp : turn(perSecond);
      return (await callers[name](calls)) / calls.count;
    });
    const what = `calls over SIP, ${perSecond} /s, CPU a call`;
    const [cost, bareCost, sippCost] = [median(costs.ours), median(costs.bare), median(costs.sipp)];
    return {
      cost: { what, value: cost, unit: 'ms', aim: '≤ 0.6 ms' },
      rows: [
        { what, ours: cost, peer: 'bare Node that sends as much', theirs: bareCost, unit: 'ms' },
        { what, ours: cost, peer: 'sipp as the caller', theirs: sippCost, unit: 'ms' },
      ],
    };
  };
  const [few, more] = [await costsAt(100), await costsAt(300)];
  await Promise.all([ours.end(), bare.end()]);
  // In a process of its own, so that it doesn't grow into what another has left.
  const caller = await startCaller('./caller.ts');
  await caller.call(warmUp);
  const full = await caller.call(many);
  return {
    rows: [...few.rows, ...more.rows],
    costs: [
      few.cost,
      more.cost,
      { what: 'calls over SIP, 3,000 up, CPU a call', value: full.cpuMs / many.count, unit: 'ms', aim: '≤ 0.6 ms' },
      { what: 'calls over SIP, most up at once', value: full.mostUp, unit: '', aim: '3,000' },
      { what: 'calls over SIP, 3,000 up, memory a call', value: full.kib, unit: 'KiB' },
    ],
  };
}
