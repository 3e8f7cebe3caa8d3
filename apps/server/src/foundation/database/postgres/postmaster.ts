import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Whether the main process of the PostgreSQL in this data folder runs. */
export async function postmasterRuns(data: string): Promise<boolean> {
  const noted = await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(noted, 10);
  if (!(pid > 0)) return false;
  if (process.platform !== 'linux') return exists(pid);
  // After a crash, and in a new container above all, the number may belong to another process.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.split('\0').includes(data);
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
