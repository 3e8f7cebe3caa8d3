import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@trunkline/client';
import { newKey } from '../../apps/server/src/api-keys/key.ts';
import { atEnd } from '../at-end.ts';
import { forkServer } from '../child.ts';
import { contactFile } from '../import-file.ts';
import { POOL_SIZE, settle, startPostgres, temporaryFolder } from '../postgres.ts';
import { untilQuiet } from '../quiet.ts';
import { median } from '../rounds.ts';
import type { Cost, Found, Row } from '../table.ts';
import type { MediaCounts, MediaSettings } from './server.ts';

const ROUNDS = 3;
const WARM_UP_SECONDS = 3;
const SECONDS = 8;
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

type Figures = PeerFound & { cpuMs: number; kib: number; missing: number; imported: number };

/** Whose media: ours, or the least that Node can do. */
type Whose = 'server' | 'relay';

/** What else the process does: nothing, half of the main thread's time something, or all the time an import. */
type Beside = 'nothing' | 'half busy' | Imports;

interface Imports {
  file: string;
  connectionString: string;
  apiKey: string;
}

const IMPORTED_ROWS = 1_000_000;

const at = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** The peer as a command: in C where that can be compiled. */
function peerCommand(): string[] {
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

/** Imports a file again and again, for as long as it is asked to. @returns how many rows were imported */
async function importWhile(port: number, { file, apiKey }: Imports, goesOn: () => boolean): Promise<number> {
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
  let rows = 0;
  const blob = await openAsBlob(file);
  while (goesOn()) {
    const { list } = await client.contactLists.upload({ name: 'Spring', file: blob });
    rows += (await client.contactLists.confirm(list.id)).totalEntries;
  }
  return rows;
}

const importerOf = async ({ connectionString, apiKey }: Imports): Promise<Record<string, string>> => ({
  ...{ HOST: '127.0.0.1', PORT: '0', BOOTSTRAP_API_KEY: apiKey, DATABASE_URL: connectionString },
  ...{ DATA_DIR: await temporaryFolder(), POOL_SIZE: String(POOL_SIZE) },
  ...{ UPLOAD_MAX_ROWS: String(IMPORTED_ROWS), UPLOAD_MAX_BYTES: '1000000000' },
});

/** One run: all calls up, measured for some seconds. */
async function measure(command: readonly string[], whose: Whose, calls: number, beside: Beside): Promise<Figures> {
  const { rtpPort, peerPort, agentPort } = ports;
  const given = [calls, agentPort, rtpPort, peerPort, WARM_UP_SECONDS, SECONDS].map(String);
  const peer = spawn(command[0]!, [...command.slice(1), ...given], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(async () => peer.kill('SIGKILL'));
  const line = linesOf(peer);
  await line('listening');
  const imports = typeof beside === 'object' ? beside : undefined;
  if (imports) await settle(imports.connectionString);
  const environment = imports && (await importerOf(imports));
  const settings: MediaSettings = {
    ...{ ...ports, calls, busy: beside === 'half busy' },
    ...(environment && { environment }),
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
  await untilQuiet();
  return {
    ...found,
    cpuMs: cpuShare / calls,
    kib: rss / 1024 / calls,
    missing: Math.max(0, found.sent - found.atAgent) + found.lost,
    imported,
  };
}

async function run(command: readonly string[], whose: Whose, calls: number, beside: Beside): Promise<Figures> {
  const found = await measure(command, whose, calls, beside);
  console.error(`  ${whose}, ${calls} calls, beside ${JSON.stringify(beside)}: ${JSON.stringify(found)}`);
  return found;
}

async function medians(command: readonly string[], calls: number, beside: Beside) {
  const runs: Figures[] = [];
  for (let round = 0; round < ROUNDS; round += 1) runs.push(await run(command, 'server', calls, beside));
  return (figure: keyof Figures) => median(runs.map((each) => each[figure]));
}

/** Ours and the relay's, in turns. */
async function compared(command: readonly string[], calls: number) {
  const runs: Record<Whose, Figures[]> = { server: [], relay: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const whose of ['server', 'relay'] as const) runs[whose].push(await run(command, whose, calls, 'nothing'));
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
export async function benchMedia(): Promise<Found> {
  const command = peerCommand();
  const half = await compared(command, 100);
  const { ours: quiet, rows } = await compared(command, 200);
  const busy = await medians(command, 200, 'half busy');
  const full = await medians(command, 400, 'nothing');
  const { connectionString } = await (await startPostgres()).database();
  const { file } = await contactFile(IMPORTED_ROWS);
  const importing = await medians(command, 200, { file, connectionString, apiKey: newKey('bench') });
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
