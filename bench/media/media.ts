import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../at-end.ts';
import { forkServer } from '../child.ts';
import { type Imports, importWhile, openImports } from '../imports.ts';
import { settle } from '../postgres.ts';
import { untilQuiet } from '../quiet.ts';
import { type Effort, median } from '../rounds.ts';
import type { Cost, Found, Row } from '../table.ts';
import type { MediaCounts, MediaSettings, Voices } from './server.ts';

const SIZES = { whole: { rounds: 2, seconds: 8 }, quick: { rounds: 1, seconds: 4 } };
const WARM_UP_SECONDS = 3;
const QUICK_CALLS = 50;
const ports = { rtpPort: 26_000, peerPort: 28_000, agentPort: 25_990 };

/** What the peer prints. */
interface PeerFound {
  sent: number;
  atAgent: number;
  received: number;
  lost: number;
  jitterP99: number;
  jitterMax: number;
  toAgentP50: number;
  toAgentP99: number;
}

export type Figures = PeerFound & { cpuMs: number; kib: number; missing: number; imported: number };

/** Whose media: ours, or the least that Node can do. */
type Whose = 'server' | 'relay';

/** What else the process does: nothing, half of the main thread's time something, or all the time an import. */
type Beside = 'nothing' | 'half busy' | Imports;

const at = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** The peer as a command: in C where that can be compiled. */
export function peerCommand(): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'trunkline-bench-media-'));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const program = path.join(folder, 'peer');
  const { status } = spawnSync('cc', ['-O2', '-o', program, at('./peer.c')], { stdio: 'inherit' });
  if (status === 0) return [program];
  console.error('  there is no C compiler: the peer in Node takes more CPU than what is measured');
  return [process.execPath, '--conditions=source', at('./peer.ts')];
}

/** Waits for lines of a process, by what they begin with. */
function linesOf(child: ChildProcess): (prefix: string) => Promise<string> {
  const seen: string[] = [];
  const lines = createInterface({ input: child.stdout! }).on('line', (line) => seen.push(line));
  return async (prefix) => {
    for (;;) {
      const line = seen.find((each) => each.startsWith(prefix));
      if (line !== undefined) return line;
      await Promise.race([
        once(lines, 'line'),
        once(child, 'exit').then(([code]) => {
          if (!seen.some((each) => each.startsWith(prefix))) throw new Error(`The peer ended with ${code}.`);
        }),
      ]);
    }
  };
}

/** One run: all calls up, measured for some seconds. */
export async function measureMedia(
  effort: Effort,
  command: readonly string[],
  whose: Whose,
  calls: number,
  beside: Beside,
  voices: Voices = {},
): Promise<Figures> {
  const { rtpPort, peerPort, agentPort } = ports;
  const given = [calls, agentPort, rtpPort, peerPort, WARM_UP_SECONDS, SIZES[effort].seconds].map(String);
  const peer = spawn(command[0]!, [...command.slice(1), ...given], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(async () => peer.kill('SIGKILL'));
  const line = linesOf(peer);
  await line('listening');
  const imports = typeof beside === 'object' ? beside : undefined;
  if (imports) await settle(imports.connectionString);
  const settings: MediaSettings = {
    ...{ ...ports, ...voices, calls, busy: beside === 'half busy' },
    ...(imports && { environment: imports.environment }),
  };
  const server = await forkServer(new URL(`./${whose}.ts`, import.meta.url), settings, ['--max-semi-space-size=8']);
  peer.stdin!.write('go\n');
  await line('window');
  const [cpuBefore, before] = [await server.cpu(), performance.now()];
  let isMeasured = false;
  const importing = imports ? importWhile(server.port, imports, () => !isMeasured) : 0;
  const talking = line('end').then(async () => {
    isMeasured = true;
    return ((await server.cpu()) - cpuBefore) / (performance.now() - before);
  });
  const [cpuShare, imported] = await Promise.all([talking, importing]);
  const found = JSON.parse(await line('{')) as PeerFound;
  const { rss } = await server.ask<MediaCounts>({});
  await server.end();
  await untilQuiet(effort);
  return {
    ...found,
    cpuMs: cpuShare / calls,
    kib: rss / 1024 / calls,
    missing: Math.max(0, found.sent - found.atAgent) + found.lost,
    imported,
  };
}

type Run = (whose: Whose, calls: number, beside: Beside) => Promise<Figures>;

function tellOf(whose: Whose, calls: number, beside: Beside, found: Figures): Figures {
  const what = typeof beside === 'object' ? 'an import' : beside;
  console.error(`  ${whose}, ${calls} calls, beside ${what}: ${JSON.stringify(found)}`);
  return found;
}

async function medians(run: Run, rounds: number, calls: number, beside: Beside) {
  const runs: Figures[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await run('server', calls, beside));
  return (figure: keyof Figures) => median(runs.map((each) => each[figure]));
}

/** Ours and the relay's, in turns. */
async function compared(run: Run, rounds: number, calls: number) {
  const runs: Record<Whose, Figures[]> = { server: [], relay: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const whose of ['server', 'relay'] as const) runs[whose].push(await run(whose, calls, 'nothing'));
  const of = (whose: Whose) => (figure: keyof Figures) => median(runs[whose].map((each) => each[figure]));
  const [ours, theirs] = [of('server'), of('relay')];
  const row = (what: string, figure: keyof Figures, unit: string): Row => ({
    ...{ what: `${calls} calls, ${what}`, ours: ours(figure) },
    ...{ peer: 'a bare relay in Node', theirs: theirs(figure), unit },
  });
  const rows = [row('CPU a call-second', 'cpuMs', 'ms'), row('jitter p99', 'jitterP99', 'ms')];
  return { ours, rows: [...rows, row('callee to agent p99', 'toAgentP99', 'ms')] };
}

/** The media of calls: CPU, memory, how evenly packets leave, how soon agents hear. Agents answer each packet. */
export async function benchMedia(effort: Effort): Promise<Found> {
  const { rounds } = SIZES[effort];
  const command = peerCommand();
  const run: Run = async (...of) => tellOf(...of, await measureMedia(effort, command, ...of));
  if (effort === 'quick') return { rows: (await compared(run, rounds, QUICK_CALLS)).rows };
  const half = await compared(run, rounds, 100);
  const { ours: quiet, rows } = await compared(run, rounds, 200);
  const busy = await medians(run, rounds, 200, 'half busy');
  const full = await medians(run, rounds, 400, 'nothing');
  const importing = await medians(run, rounds, 200, await openImports());
  const costs: Cost[] = [
    { what: '200 calls, CPU a call-second', value: quiet('cpuMs'), unit: 'ms', aim: '≤ 2 ms' },
    { what: '200 calls, jitter p99', value: quiet('jitterP99'), unit: 'ms', aim: '≤ 5 ms' },
    { what: '200 calls, callee to agent p99', value: quiet('toAgentP99'), unit: 'ms', aim: '≤ 3 ms' },
    { what: '200 calls, packets lost', value: quiet('missing'), unit: '', aim: '0' },
    { what: '200 calls, memory a call', value: quiet('kib'), unit: 'KiB', aim: '≤ 350 KiB' },
    { what: '200 calls, main thread half busy, jitter p99', value: busy('jitterP99'), unit: 'ms', aim: '≤ 5 ms' },
    { what: '200 calls, main thread half busy, to agent p99', value: busy('toAgentP99'), unit: 'ms', aim: '≤ 3 ms' },
    { what: '200 calls, main thread half busy, packets lost', value: busy('missing'), unit: '', aim: '0' },
    { what: '200 calls, rows being imported, jitter p99', value: importing('jitterP99'), unit: 'ms', aim: '≤ 5 ms' },
    { what: '200 calls, rows being imported, to agent p99', value: importing('toAgentP99'), unit: 'ms', aim: '≤ 3 ms' },
    { what: '200 calls, rows being imported, packets lost', value: importing('missing'), unit: '', aim: '0' },
    { what: '200 calls, rows that were imported meanwhile', value: importing('imported'), unit: '' },
    { what: '400 calls, CPU a call-second', value: full('cpuMs'), unit: 'ms' },
    { what: '400 calls, jitter p99', value: full('jitterP99'), unit: 'ms', aim: '≤ 10 ms' },
    { what: '400 calls, callee to agent p99', value: full('toAgentP99'), unit: 'ms' },
    { what: '400 calls, packets lost', value: full('missing'), unit: '', aim: '0' },
  ];
  return { rows: [...half.rows, ...rows], costs };
}
