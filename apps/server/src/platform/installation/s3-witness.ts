import { text } from 'node:stream/consumers';
import type { S3ObjectStore } from '../../foundation/objects/s3.ts';
import { readEntry, type Witness } from './witness.ts';

/** A safe integer has at most so many digits. */
const DIGITS = 16;

/** Objects of the bucket that holds the files, one for each entry: `<folder>/<slot>/<number>.json`, which list in order. */
export function s3Witness(store: Pick<S3ObjectStore, 'get' | 'replace' | 'delete' | 'list'>, folder: string): Witness {
  const keyOf = (slot: number, number: number) => `${folder}/${slot}/${String(number).padStart(DIGITS, '0')}.json`;
  const numberOf = (key: string) => Number(/(\d+)\.json$/.exec(key)?.[1]);
  const keysAbove = (slot: number, number: number) =>
    store.list({ prefix: `${folder}/${slot}/`, after: keyOf(slot, number) });
  const slots = async () => {
    const found: number[] = [];
    for await (const { key } of store.list({ prefix: `${folder}/`, delimiter: '/' }))
      found.push(Number(key.split('/').at(-2)));
    return found;
  };
  return {
    close: async () => {},
    newest: async (known) => {
      const newest = new Map<number, number>();
      for (const slot of await slots()) {
        newest.set(slot, known.get(slot) ?? 0);
        for await (const { key } of keysAbove(slot, known.get(slot) ?? 0)) newest.set(slot, numberOf(key));
      }
      return newest;
    },
    above: async function* (slot, number) {
      for await (const { key } of keysAbove(slot, number)) {
        const entry = readEntry(await text(await store.get(key)));
        if (entry) yield entry;
      }
    },
    append: async (slot, entries) => {
      for (const entry of entries) await store.replace(keyOf(slot, entry.number), JSON.stringify(entry));
    },
    cut: async (before) => {
      for (const slot of await slots()) {
        let older: string | undefined;
        for await (const { key, storedAt } of store.list({ prefix: `${folder}/${slot}/` })) {
          if (older !== undefined) await store.delete(older);
          if (storedAt >= before) break;
          older = key;
        }
      }
    },
  };
}
