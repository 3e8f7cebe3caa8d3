import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Makes a disk of this size, such as `1m`, in memory, and mounts it on a folder, which is made where it is missing. */
export async function mount(folder: string, size: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
}

/** Makes such a disk smaller or larger; in what there is on it, it finds its smallest size. */
export const resize = (folder: string, size: string) => run('mount', ['-o', `remount,size=${size}`, folder]);

/** Takes it away, whoever still uses it. */
export async function unmount(folder: string): Promise<void> {
  await run('umount', ['--lazy', folder]);
}

/** Whether this user may mount: root, where it is not a container's. */
export const mayMount = await probe();

async function probe(): Promise<boolean> {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return false;
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
  if (status === 0) await unmount(folder);
  await rmdir(folder);
  return status === 0;
}
