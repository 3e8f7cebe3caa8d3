import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Mutant } from './mutants.ts';

/** The server's folder, and the repository's. */
export const serverFolder = path.resolve(import.meta.dirname, '../../..');
const repository = path.resolve(serverFolder, '../..');

/** @returns a source with the bug in it; throws where the text to be replaced does not stand there once */
export function mutated({ name, file, find, replace }: Mutant, source: string): string {
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`The mutant ${name}: its text stands ${found} times in src/${file}, not once.`);
  return source.replace(find, () => replace);
}

/** A copy of a package's sources, in which one bug at a time is planted. */
export interface Copy {
  /** The copy of the package. */
  folder: string;
  /** Has a file below `src` be this, until the next is written, and the other again as it was. */
  write(file: string, source: string): Promise<void>;
  /** Plants a bug, in place of the one before. */
  plant(mutant: Mutant | undefined): Promise<void>;
  remove(): Promise<void>;
}

/** Runs programs in a copy, one at a time, until the person stops it. */
export interface Runs {
  /** @returns how it ended, and what it wrote. Throws once all was stopped */
  run(program: string, args: readonly string[]): Promise<{ code: number; output: string }>;
  isStopped(): boolean;
}

/** A signal that ends this process ends the program that runs, too. */
export function runsIn({ folder }: Pick<Copy, 'folder'>): Runs {
  let running: ChildProcess | undefined;
  let isStopped = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      isStopped = true;
      running?.kill(signal);
    });
  return {
    isStopped: () => isStopped,
    run: async (program, args) => {
      const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      running = child;
      const parts: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part));
      const code = await new Promise<number>((resolve) => child.on('close', (exitCode) => resolve(exitCode ?? 1)));
      running = undefined;
      if (isStopped) throw new Error('Stopped.');
      return { code, output: Buffer.concat(parts).toString() };
    },
  };
}

/** Copies a package's sources, the server's by default; what is beside them, and what is installed, is linked. */
export async function copySources(original: string = serverFolder): Promise<Copy> {
  const root = await mkdtemp(path.join(tmpdir(), 'trunkline-mutants-'));
  const folder = path.join(root, path.relative(repository, original));
  await mkdir(path.dirname(folder), { recursive: true });
  const linkAll = async (from: string, to: string, leaveOut: string) => {
    for (const name of await readdir(from))
      if (name !== leaveOut) await symlink(path.join(from, name), path.join(to, name));
  };
  await linkAll(repository, root, path.basename(path.dirname(original)));
  await linkAll(path.dirname(original), path.dirname(folder), path.basename(original));
  const installed = path.join(original, 'node_modules');
  await cp(original, folder, { recursive: true, filter: (from) => from !== installed });
  await symlink(installed, path.join(folder, 'node_modules'));
  let mend = async () => {};
  const write = async (name: string, source: string) => {
    await mend();
    const file = path.join(folder, 'src', name);
    const before = await readFile(file, 'utf8');
    await writeFile(file, source);
    mend = () => writeFile(file, before);
  };
  return {
    folder,
    write,
    plant: async (mutant) => {
      await mend();
      if (mutant)
        await write(mutant.file, mutated(mutant, await readFile(path.join(folder, 'src', mutant.file), 'utf8')));
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
