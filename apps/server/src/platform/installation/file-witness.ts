import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { readEntry, type Witness } from './witness.ts';

/** How much of a file's end is read at first in search of its last line, in bytes; then twice as much, and so on. */
const END_BYTES = 64 * 1024;

/** Has each write be on the disk before it is answered, at two thirds of what a sync after it costs. Windows has none. */
const O_DSYNC = constants.O_DSYNC as number | undefined;
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | (O_DSYNC ?? 0);

/** `3-2026-11-24.jsonl`: a slot and a day. */
const NAME = /^(\d+)-(\d{4}-\d\d-\d\d)\.jsonl$/;

/** A folder of the installation's own, with a file for each slot and day. It is made when it is first written. */
export function fileWitness(folder: string): Witness {
  const own = new Map<number, { name: string; file: FileHandle }>();

  async function filesBySlot(): Promise<Map<number, string[]>> {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const found = new Map<number, string[]>();
    for (const name of names.toSorted()) {
      const slot = NAME.exec(name)?.[1];
      if (slot !== undefined) found.set(Number(slot), [...(found.get(Number(slot)) ?? []), name]);
    }
    return found;
  }

  /** @param day `2026-11-24`, by the clock that its entries are told by */
  async function fileOf(slot: number, day: string): Promise<FileHandle> {
    const name = `${slot}-${day}.jsonl`;
    const found = own.get(slot);
    if (found?.name === name) return found.file;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(path.join(folder, name), APPEND, 0o600);
    await syncFolder(folder);
    own.set(slot, { name, file });
    await found?.file.close();
    return file;
  }

  return {
    close: async () => {
      await Promise.all([...own.values()].map(({ file }) => file.close()));
      own.clear();
    },
    newest: async () => {
      const newest = new Map<number, number>();
      for (const [slot, names] of await filesBySlot()) {
        for (const name of names) {
          const number = await lastNumber(path.join(folder, name));
          if (number !== undefined) newest.set(slot, Math.max(number, newest.get(slot) ?? 0));
        }
      }
      return newest;
    },
    above: async function* (slot, number) {
      for (const name of (await filesBySlot()).get(slot) ?? []) {
        if (((await lastNumber(path.join(folder, name))) ?? 0) <= number) continue;
        for await (const line of createInterface(createReadStream(path.join(folder, name)))) {
          const entry = readEntry(line);
          if (entry && entry.number > number) yield entry;
        }
      }
    },
    append: async (slot, entries) => {
      const file = await fileOf(slot, entries.at(-1)!.at.slice(0, 10));
      try {
        // Its own line, also behind half of one that a process left when it ended.
        await file.appendFile(`\n${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`);
        if (O_DSYNC === undefined) await file.datasync();
      } catch (error) {
        // Whatever the file was: the next try opens it again.
        own.delete(slot);
        await file.close().catch(() => {});
        throw error;
      }
    },
    cut: async (before) => {
      const day = before.toISOString().slice(0, 10);
      for (const names of (await filesBySlot()).values())
        for (const name of names.slice(0, -1))
          if (NAME.exec(name)![2]! < day) await rm(path.join(folder, name), { force: true });
    },
  };
}

/**
 * The highest number at the end of a file; undefined where it has no whole line. It need not be the last: a server that
 * was frozen while it wrote may write behind the one that has its slot now.
 */
async function lastNumber(file: string): Promise<number | undefined> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    for (let bytes = END_BYTES; ; bytes *= 2) {
      const start = Math.max(0, size - bytes);
      const { buffer } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
      const lines = buffer.toString('utf8').split('\n');
      const entries = lines.slice(start === 0 ? 0 : 1).flatMap((line) => readEntry(line) ?? []);
      if (entries.length > 0) return Math.max(...entries.map(({ number }) => number));
      if (start === 0) return undefined;
    }
  } finally {
    await handle.close();
  }
}

/** So that a new file is found after a loss of power. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
