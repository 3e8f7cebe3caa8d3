import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { ObjectMissing } from '../../foundation/objects/object-store.ts';
import type { S3ObjectStore } from '../../foundation/objects/s3.ts';

/** How far the database had come, as servers of the former version tell it. */
export interface Testimony {
  /** The installation's UUID. */
  id: string;
  watermark: number;
}

/** Reads what a former version has told; undefined where there is nothing. Throws where that can't be read. */
export type ReadOldWitness = () => Promise<Testimony | undefined>;

const KEY = 'installation/witness.json';

/** The file that WITNESS_PATH named. */
export const oldFileWitness =
  (path: string): ReadOldWitness =>
  async () => {
    const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
      throw error;
    });
    return found === undefined ? undefined : fromText(found);
  };

/** The object of the bucket. */
export const oldS3Witness =
  (store: Pick<S3ObjectStore, 'get'>): ReadOldWitness =>
  async () => {
    const content = await store.get(KEY).catch((error) => {
      if (error instanceof ObjectMissing) return undefined;
      throw error;
    });
    return content && fromText(await text(content));
  };

/** Throws for half a file: that is no testimony. */
function fromText(text: string): Testimony {
  const { id, watermark } = JSON.parse(text) as Partial<Testimony>;
  if (typeof id === 'string' && Number.isSafeInteger(watermark)) return { id, watermark: watermark! };
  throw new Error('The witness holds something else than an ID and a watermark.');
}
