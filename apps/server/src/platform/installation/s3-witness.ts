import { text } from 'node:stream/consumers';
import { ObjectMissing } from '../../foundation/objects/object-store.ts';
import type { S3ObjectStore } from '../../foundation/objects/s3.ts';
import { fromText, toText, type Witness } from './witness.ts';

const KEY = 'installation/witness.json';

/** An object of the bucket that holds the files. */
export const s3Witness = (store: Pick<S3ObjectStore, 'get' | 'replace'>): Witness => ({
  read: async () => {
    const content = await store.get(KEY).catch((error) => {
      if (error instanceof ObjectMissing) return undefined;
      throw error;
    });
    return content && fromText(await text(content));
  },
  write: (testimony) => store.replace(KEY, toText(testimony)),
});
