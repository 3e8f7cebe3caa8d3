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

/**
 * CPU seconds that a process and each of its children have used, by process. What children took that have ended since,
 * such as those that vacuum, is the process's own. Linux only.
 */
export async function cpuOf(pid: number): Promise<Map<number, number>> {
  const stats = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(statOf));
  const own = stats.filter((stat) => stat.pid === pid || stat.parent === pid);
  return new Map(own.map((stat) => [stat.pid, stat.seconds + (stat.pid === pid ? stat.endedChildren : 0)]));
}

/** CPU seconds between two looks at a process and its children. */
export const cpuBetween = (before: Map<number, number>, after: Map<number, number>): number =>
  sumOf(after) - sumOf(before);

const sumOf = (seconds: Map<number, number>) => [...seconds.values()].reduce((sum, each) => sum + each, 0);

const TICKS_PER_SECOND = 100;

async function statOf(pid: string) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(nothing);
  // The name before it may hold anything but the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const seconds = (field: number) => (Number(fields[field]) + Number(fields[field + 1])) / TICKS_PER_SECOND;
  return { pid: Number(pid), parent: Number(fields[1]), seconds: seconds(11), endedChildren: seconds(13) };
}
