import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

const root = path.dirname(import.meta.dirname);

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A folder for a test's files, which are deleted with it. */
export async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'trunkline-demo-test-'));
  await chmod(made, 0o711);
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** A CSV file with these lines. */
export async function csv(...lines: string[]): Promise<string> {
  const file = path.join(await folder(), 'mine.csv');
  await writeFile(file, lines.join('\n'));
  return file;
}

/** The command lines of running programs in which the text stands. Empty where the system doesn't show them. */
async function programsWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(text));
}

/** Runs the demo with a temporary folder of its own. */
export async function startDemo(...args: string[]) {
  const temporary = await folder();
  const child = spawn('node', ['--conditions=source', path.join(root, 'src/main.ts'), ...args], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended: Ended = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (part) => {
    ended.stdout += part;
  });
  child.stderr.on('data', (part) => {
    ended.stderr += part;
  });
  onTestFinished(() => void child.kill('SIGTERM'));
  return {
    child,
    output: ended,
    ended: new Promise<Ended>((resolve) => child.on('close', (code) => resolve(Object.assign(ended, { code })))),
    /** What it has left behind: its files, and programs that work on them. */
    leftovers: async () => [...(await readdir(temporary)), ...(await programsWith(temporary))],
  };
}
