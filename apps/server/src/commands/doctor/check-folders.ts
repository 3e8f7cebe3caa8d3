import { access, constants, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import { type Finding, mend, note, ok, whyOf } from './finding.ts';

/** Below this a disk is as good as full: a contact file, a recording and the database's log need room at once. */
const LEAST_BYTES = 1_000_000_000;

/**
 * Looks whether the folders can be written, and whether their disks have room.
 * @param others folders beside those of the settings, such as the embedded database's
 */
export async function checkFolders({ dataDir, witnessPath, s3Bucket }: Config, others: string[]): Promise<Finding[]> {
  const kept = s3Bucket === undefined ? ['objects', 'recordings'] : ['recordings'];
  const findings = [await writable('DATA_DIR', dataDir)];
  for (const folder of kept.map((name) => path.join(dataDir, name)))
    if (await stat(folder).catch(() => undefined)) findings.push(await writable('DATA_DIR', folder));
  if (witnessPath !== undefined) findings.push(await writable('WITNESS_PATH', await placeOf(witnessPath)));
  const folders = [dataDir, ...kept.map((name) => path.join(dataDir, name)), ...others];
  return [...findings.filter(({ state }, at) => state !== 'ok' || at === 0), ...(await room(folders))];
}

/** The folder that is written: that of the setting, or the one in which it would be made, or which a former version's file is in. */
async function placeOf(witnessPath: string): Promise<string> {
  const found = await stat(witnessPath).catch(() => undefined);
  return found?.isDirectory() ? witnessPath : path.dirname(witnessPath);
}

async function writable(setting: string, folder: string): Promise<Finding> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return ok('folder', `${folder} can be written.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && setting === 'DATA_DIR')
      return note('folder', `${folder} is not there yet. The first start makes it: set DATA_DIR where it is another.`);
    const advice = `Give this user the right to, or set ${setting} to another place.`;
    return mend('folder', `${folder} can't be written (${(error as NodeJS.ErrnoException).code}). ${advice}`);
  }
}

/** One line for each disk. */
async function room(folders: string[]): Promise<Finding[]> {
  const disks = new Map<number, string>();
  for (const folder of folders) {
    const found = await stat(folder).catch(() => undefined);
    if (found && !disks.has(found.dev)) disks.set(found.dev, folder);
  }
  return Promise.all([...disks.values()].map(roomOf));
}

async function roomOf(folder: string): Promise<Finding> {
  try {
    const { bavail, bsize, files, ffree } = await statfs(folder);
    const free = bavail * bsize;
    const left = `${(free / 1e9).toFixed(1)} GB free on the disk of ${folder}`;
    if (free < LEAST_BYTES)
      return mend('disk', `Only ${left}. Make room: nothing is stored and nobody called without.`);
    // Some file systems count none.
    if (files > 0 && ffree === 0)
      return mend('disk', `No file can be made on the disk of ${folder}: it has no inodes left. Delete files.`);
    return ok('disk', `${left}.`);
  } catch (error) {
    return mend('disk', `The disk of ${folder} does not answer (${whyOf(error)}). Look whether it is mounted.`);
  }
}
