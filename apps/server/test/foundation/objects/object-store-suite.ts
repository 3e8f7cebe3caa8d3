import { describe, expect, it } from 'vitest';
import { ObjectMissing, type ObjectStore, ObjectTooLarge } from '../../../src/foundation/objects/object-store.ts';

async function* streamOf(...parts: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part;
    yield Buffer.from(part);
  }
}

async function textOf(store: ObjectStore, key: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await store.get(key)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

let made = 0;
/** A key that no other test uses. */
export function freshKey(): string {
  made += 1;
  return `uploads/test-${Date.now()}-${made}/contacts.csv`;
}

const upload = { contentType: 'text/csv', maxBytes: 1000, expiresInSeconds: 60 };

async function put(url: { url: string; headers: Record<string, string> }, body: string) {
  const response = await fetch(url.url, { method: 'PUT', headers: url.headers, body });
  await response.arrayBuffer();
  return response.status;
}

/**
 * What every object store must do.
 * @param namesDownloads false for a server that doesn't obey the name and type that a signed URL asks for
 */
export function objectStoreSuite(name: string, storeOf: () => ObjectStore, namesDownloads = true): void {
  describe(`object store: ${name}`, () => {
    it('writes, looks up, reads and deletes', async () => {
      const store = storeOf();
      const key = freshKey();
      expect(await store.stat(key)).toBeUndefined();
      await expect(store.get(key)).rejects.toThrow(ObjectMissing);
      expect(await store.put(key, streamOf('phone\n', '+14155550100\n'), 100)).toBe(true);
      expect(await store.stat(key)).toEqual({ sizeBytes: 19, storedAt: expect.any(Date) });
      expect(await textOf(store, key)).toBe('phone\n+14155550100\n');
      await store.delete(key);
      await store.delete(key);
      expect(await store.stat(key)).toBeUndefined();
    });

    it('keeps the first of several writes', async () => {
      const store = storeOf();
      const key = freshKey();
      expect(await store.put(key, streamOf('first'), 100)).toBe(true);
      expect(await store.put(key, streamOf('second'), 100)).toBe(false);
      expect(await textOf(store, key)).toBe('first');
      const raced = freshKey();
      const won = await Promise.all(['a', 'b', 'c', 'd'].map((text) => store.put(raced, streamOf(text), 100)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await textOf(store, raced)).toBe('abcd'[won.indexOf(true)]);
    });

    it('stores nothing of a write that breaks off or is over its cap, and the key stays free', async () => {
      const store = storeOf();
      const key = freshKey();
      await expect(store.put(key, streamOf('half', new Error('gone')), 100)).rejects.toThrow('gone');
      await expect(store.put(key, streamOf('12345', '678901'), 10)).rejects.toThrow(ObjectTooLarge);
      expect(await store.stat(key)).toBeUndefined();
      expect(await store.put(key, streamOf('1234567890'), 10)).toBe(true);
    });

    it('takes one upload by a signed URL', async () => {
      const store = storeOf();
      const key = freshKey();
      const signed = await store.uploadUrl(key, upload);
      expect(await put(signed, 'phone\n')).toBe(200);
      expect(await put(signed, 'other\n')).toSatisfy((status) => status === 409 || status === 412);
      expect(await textOf(store, key)).toBe('phone\n');
    });

    it('gives a download with its name and type by a signed URL', async () => {
      const store = storeOf();
      const key = freshKey();
      await store.put(key, streamOf('row,code\r\n'), 100);
      const url = await store.downloadUrl(key, {
        fileName: 'errors.csv',
        contentType: 'text/csv',
        expiresInSeconds: 60,
      });
      const response = await fetch(url);
      expect(await response.text()).toBe('row,code\r\n');
      if (!namesDownloads) return;
      expect(response.headers.get('content-disposition')).toBe('attachment; filename="errors.csv"');
      expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
    });

    it.each([
      '',
      '/a',
      'a/',
      'a//b',
      '../a',
      'a/../b',
      'a/.b',
      '.incoming/a',
      'A',
      'a b',
      'a\0',
      'a%2e',
      'a'.repeat(513),
    ])('refuses the key %j', async (key) => {
      const store = storeOf();
      await expect(store.put(key, streamOf('x'), 10)).rejects.toThrow(TypeError);
      await expect(store.stat(key)).rejects.toThrow(TypeError);
      await expect(store.get(key)).rejects.toThrow(TypeError);
      await expect(store.delete(key)).rejects.toThrow(TypeError);
      await expect(store.uploadUrl(key, upload)).rejects.toThrow(TypeError);
    });
  });
}
