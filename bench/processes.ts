import { readdir, readFile, writeFile } from 'node:fs/promises';

/** What Linux tells of a process that has ended or can't be read. */
const nothing = () => '';

/** Has the peak of a process's memory counted anew. */
export async function forgetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(nothing);
}

/** The memory of a process in MB, now and at most. Linux only. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1000;
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

/** CPU seconds that a process and each of its children have used, by process. Linux only. */
export async function cpuOf(pid: number): Promise<Map<number, number>> {
  const stats = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(statOf));
  const own = stats.filter((stat) => stat.pid === pid || stat.parent === pid);
  return new Map(own.map((stat) => [stat.pid, stat.seconds]));
}

/** CPU seconds between two looks, of the processes that were there at the second. */
export const cpuBetween = (before: Map<number, number>, after: Map<number, number>): number =>
  [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0);

const TICKS_PER_SECOND = 100;

async function statOf(pid: string) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(nothing);
  // The name before it may hold anything but the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid: Number(pid),
    parent: Number(fields[1]),
    seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}
