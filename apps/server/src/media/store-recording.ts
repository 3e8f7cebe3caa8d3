import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { ObjectStore } from '../objects/object-store.ts';

/**
 * Moves a recording that is done from its file into the object store. Where the store can't take it, the file stays, and
 * this can be tried again: an object is written once, and whole or not at all.
 * @returns the size in bytes
 * @throws what the store throws
 */
export async function storeRecording(objects: ObjectStore, file: string, key: string): Promise<number> {
  const { size } = await stat(file);
  await objects.put(key, createReadStream(file), size);
  await rm(file, { force: true });
  return size;
}
