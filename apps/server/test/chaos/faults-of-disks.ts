import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { resize } from '../foundation/objects/mount.ts';
import type { Fault } from './faults.ts';
import { inTurn } from './faults-of-database.ts';
import { DISK_SIZE } from './world.ts';

const MOST_TRIES = 20;

/** What happens to disks. */
export const diskFaults = {
  disk: inTurn(async (world, chance, told) => {
    const at = Math.floor(chance() * world.disks.length);
    const disk = world.disks[at];
    const ms = Math.round(1000 + chance() * 3000);
    if (!disk) return told('left out: no disk can be mounted here');
    told(`the disk of the ${at === 0 ? 'database' : 'files'} is full for ${ms} ms`);
    await fill(disk);
    await sleep(ms);
    await resize(disk, DISK_SIZE);
    // Where it found no room for its log it has ended itself.
    if (at === 0) await world.postgres.start();
  }),
} satisfies Record<string, Fault>;

/** Leaves a disk no room. It can't be made smaller than what is on it, which may grow between the two looks. */
async function fill(disk: string): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      const { blocks, bfree, bsize } = await statfs(disk);
      return void (await resize(disk, String((blocks - bfree) * bsize)));
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
    }
}
