import { readFile, rename, writeFile } from 'node:fs/promises';
import { fromText, toText, type Witness } from './witness.ts';

/** A file of its own, written whole or not at all. */
export const fileWitness = (path: string): Witness => ({
  read: async () => {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    return text === undefined ? undefined : fromText(text);
  },
  write: async (testimony) => {
    const next = `${path}.${process.pid}.new`;
    await writeFile(next, toText(testimony), { mode: 0o600, flush: true });
    await rename(next, path);
  },
});
