import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../at-end.ts';
import { forkServer, SERVER_OPTIONS } from '../child.ts';
import { type Imports, importWhile, openImports } from '../imports.ts';
import { settle } from '../postgres.ts';
import { cpuOf } from '../processes.ts';
import { untilQuiet } from '../quiet.ts';
import { type Effort, inTurns, median } from '../rounds.ts';
import type { Cost, Found } from '../table.ts';
import type { CallerSettings, Calls, CallsFound } from './caller.ts';

const ports = { callee: 24_060, caller: 24_070 };
/** Calls of a turn, of which three at 100 a second are two minutes; and of the first, so that code is compiled. */
const SIZES = {
  whole: { rounds: 2, count: 1500, warmUp: 300 },
  quick: { rounds: 1, count: 400, warmUp: 200 },
};
const paced = (count: number, perSecond: number): Calls => ({ count, perSecond, holdMs: 1000 });
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

/** A process that places calls, and what it found. All calls must be complete, but if it does something else too. */
async function startCaller(file: './caller.ts' | './bare.ts', environment?: Imports['environment']) {
  const settings: CallerSettings = { callee: ports.callee, ...(environment && { environment }) };
  const caller = await forkServer(new URL(file, import.meta.url), settings, environment && SERVER_OPTIONS);
  const call = async (calls: Calls) => {
    const found = await caller.ask<CallsFound>(calls);
    console.error(`  ${file} ${JSON.stringify({ ...calls, ...found })}`);
    if (!environment && found.completed < calls.count)
      throw new Error(`Only ${found.completed} of ${calls.count} calls were complete.`);
    return found;
  };
  return { call, port: caller.port, end: caller.end };
}

/** What becomes of calls, 100 a second, of a whole server that imports rows meanwhile. */
async function besideImports(count: number, warmUp: number): Promise<Cost[]> {
  const imports = await openImports();
  await settle(imports.connectionString);
  const caller = await startCaller('./caller.ts', imports.environment);
  await caller.call(paced(warmUp, 100));
  let isMeasured = false;
  const importing = importWhile(caller.port, imports, () => !isMeasured);
  const calling = caller.call(paced(count, 100)).finally(() => {
    isMeasured = true;
  });
  const [found, imported] = await Promise.all([calling, importing]);
  const cost = (what: string, value: number, unit: string, aim?: string) => ({
    ...{ what: `calls over SIP, rows being imported, ${what}`, value, unit },
    ...(aim && { aim }),
  });
  return [
    cost('incomplete', count - found.completed, '', '0'),
    cost('answered p99', found.answeredP99, 'ms'),
    cost('CPU of the server', found.cpuMs / 10 / found.seconds, '% of a core'),
    cost('rows that were imported meanwhile', imported, ''),
  ];
}

/** Calls that are placed, answered, acknowledged and hung up, to a sipp that answers all: CPU of the caller. */
export async function benchSip(effort: Effort): Promise<Found> {
  const { rounds, count, warmUp } = SIZES[effort];
  const callee = startSipp(['-sn', 'uas', '-p', String(ports.callee), '-mp', '24200']);
  await Promise.race([
    sleep(1000),
    once(callee, 'error').then(([error]) => {
      throw new Error(`There is no sipp (apt install sip-tester): ${error}`);
    }),
  ]);
  const [ours, bare] = [await startCaller('./caller.ts'), await startCaller('./bare.ts')];
  const callers = {
    ours: ours.call,
    bare: bare.call,
    sipp: async (calls: Calls) => ({ cpuMs: await callWithSipp(calls), answeredP99: 0 }),
  };
  await untilQuiet(effort);
  const costsAt = async (perSecond: number) => {
    const turns = await inTurns(['ours', 'bare', 'sipp'], rounds, async (name, isWarmUp) => {
      const calls = isWarmUp ? paced(warmUp, 100) : paced(count, perSecond);
      const { cpuMs, answeredP99 } = await callers[name](calls);
      return { cpu: cpuMs / calls.count, answeredP99 };
    });
    const of = (name: keyof typeof turns) => median(turns[name].map(({ cpu }) => cpu));
    const what = `calls over SIP, ${perSecond} /s`;
    const row = { what: `${what}, CPU a call`, ours: of('ours'), unit: 'ms' };
    const soon = median(turns.ours.map(({ answeredP99 }) => answeredP99));
    return {
      rows: [
        { ...row, peer: 'bare Node that sends as much', theirs: of('bare'), aim: '≤ 1.7' },
        { ...row, peer: 'sipp as the caller', theirs: of('sipp') },
      ],
      costs: [{ what: `${what}, answered p99`, value: soon, unit: 'ms' }],
    };
  };
  const few = await costsAt(100);
  if (effort === 'quick') return few;
  const more = await costsAt(300);
  await Promise.all([ours.end(), bare.end()]);
  // In a process of its own, so that it doesn't grow into what another has left.
  const caller = await startCaller('./caller.ts');
  await caller.call(paced(warmUp, 100));
  const full = await caller.call(many);
  await caller.end();
  return {
    rows: [...few.rows, ...more.rows],
    costs: [
      ...few.costs,
      ...more.costs,
      { what: 'calls over SIP, 3,000 up, CPU a call', value: full.cpuMs / many.count, unit: 'ms' },
      { what: 'calls over SIP, most up at once', value: full.mostUp, unit: '', aim: '3,000' },
      { what: 'calls over SIP, 3,000 up, memory a call', value: full.kib, unit: 'KiB' },
      ...(await besideImports(count, warmUp)),
    ],
  };
}
