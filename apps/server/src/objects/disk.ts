import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock.ts';
import { atMost, checkFileName, checkKey, ObjectMissing, type ObjectStat, type ObjectStore } from './object-store.ts';
import { type Grant, grantQuery, readGrant } from './signature.ts';

/** A store on disk, whose signed URLs `objectsRouter` serves. */
export interface DiskObjectStore extends ObjectStore {
  /** What a signed URL allows now; nothing where it is wrong or over. */
  grantOf(method: 'PUT' | 'GET', key: string, query: URLSearchParams): Grant | undefined;
}

/** Where the store is, and what it signs with. */
export interface DiskOptions {
  /** Made where it is missing. All servers of an installation must see the same one. */
  directory: string;
  /** The same in all servers, and not known to clients. */
  secret: string;
  /** The address at which clients reach the server, without a slash at its end. */
  baseUrl: () => string;
  clock: Clock;
}

const ABANDONED_AFTER_MS = 24 * 3600 * 1000;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Removes what writes that a crash cut short have left. */
async function removeAbandoned(incoming: string): Promise<void> {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}

/**
 * Opens a store of plain files. A write goes to a file of its own, reaches the disk, and is then linked under its key,
 * which fails where the key is taken: so the first complete write wins, in whichever process.
 */
export async function openDiskObjectStore(options: DiskOptions): Promise<DiskObjectStore> {
  const { directory, secret, clock } = options;
  const incoming = join(directory, '.incoming');
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  await removeAbandoned(incoming);

  const pathOf = (key: string) => {
    checkKey(key);
    return join(directory, key);
  };
  const urlOf = (grant: Grant) => `${options.baseUrl()}/objects/${grant.key}${grantQuery(secret, grant)}`;
  const expiry = (seconds: number) => Math.ceil(clock.now().getTime() / 1000) + seconds;

  async function statOf(key: string): Promise<ObjectStat | undefined> {
    try {
      const found = await stat(pathOf(key));
      return found.isFile() ? { sizeBytes: found.size, storedAt: found.mtime } : undefined;
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
      throw error;
    }
  }

  async function put(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<boolean> {
    const path = pathOf(key);
    const temporary = join(incoming, randomUUID());
    const file = await open(temporary, 'wx', 0o600);
    try {
      try {
        await file.writeFile(atMost(content, maxBytes));
        await file.sync();
      } finally {
        await file.close();
      }
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await link(temporary, path);
      await syncDirectory(dirname(path));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  return {
    tellsOfUploads: true,
    put,
    stat: statOf,
    async get(key) {
      if (!(await statOf(key))) throw new ObjectMissing(key);
      return createReadStream(pathOf(key));
    },
    async delete(key) {
      await rm(pathOf(key), { force: true });
    },
    async uploadUrl(key, { contentType, maxBytes, expiresInSeconds }) {
      checkKey(key);
      const url = urlOf({ method: 'PUT', key, expires: expiry(expiresInSeconds), contentType, maxBytes });
      return { url, headers: { 'Content-Type': contentType } };
    },
    async downloadUrl(key, { fileName, contentType, expiresInSeconds }) {
      checkKey(key);
      checkFileName(fileName);
      return urlOf({ method: 'GET', key, expires: expiry(expiresInSeconds), contentType, fileName });
    },
    grantOf: (method, key, query) => readGrant(secret, method, key, query, clock.now()),
  };
}
