import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../values/clock.ts';
import { ServiceError } from '../values/service-error.ts';
import { fileContent } from './file-content.ts';
import {
  atMost,
  checkFileName,
  checkKey,
  ObjectMissing,
  type ObjectStat,
  type ObjectStore,
  translatedWrite,
} from './object-store.ts';
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
  /** The same in all servers, and not known to clients: the first signs, all others are believed too. */
  secrets: readonly string[];
  /** The address at which clients reach the server, without a slash at its end. */
  baseUrl: () => string;
  clock: Clock;
  log: Logger;
}

const NOT_THERE = 'The place of files is not there right now. Try again later.';
/** Each chunk of a contact file is a message between threads. */
const CHUNK_BYTES = 512 * 1024;
const ABANDONED_AFTER_MS = 24 * 3600 * 1000;

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}

/** The disk that a folder is on, or would be made on. */
async function diskOf(folder: string): Promise<number> {
  const found = await stat(folder).catch(unlessMissing);
  return found ? found.dev : diskOf(dirname(folder));
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw error;
}

/** A file that goes before its reader begins is missing, too. */
async function* contentOf(path: string, key: string): AsyncGenerator<Buffer> {
  try {
    yield* fileContent(path, CHUNK_BYTES);
  } catch (error) {
    unlessMissing(error);
    throw new ObjectMissing(key);
  }
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
  const { directory, secrets, clock, log } = options;
  const incoming = join(directory, '.incoming');
  await mkdir(incoming, { recursive: true, mode: 0o700 });
  await removeAbandoned(incoming);
  const disk = await diskOf(incoming);
  let isFull = false;

  const pathOf = (key: string) => {
    checkKey(key);
    return join(directory, key);
  };
  const urlOf = (grant: Grant) => `${options.baseUrl()}/objects/${grant.key}${grantQuery(secrets[0]!, grant)}`;
  const expiry = (seconds: number) => Math.ceil(clock.now().getTime() / 1000) + seconds;

  /**
   * Makes the folder again where it has vanished; not where the disk that it was on is gone, which would hide what is
   * written meanwhile once it is back.
   */
  async function ensureFolder(): Promise<void> {
    if (await stat(incoming).catch(unlessMissing)) return;
    if ((await diskOf(incoming)) !== disk) throw new ServiceError('unavailable', NOT_THERE);
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    log.error({ directory }, 'the folder of files had vanished, with all that was in it; it was made again');
  }

  async function statOf(key: string): Promise<ObjectStat | undefined> {
    const found = await stat(pathOf(key)).catch(unlessMissing);
    if (!found) await ensureFolder();
    return found?.isFile() ? { sizeBytes: found.size, storedAt: found.mtime } : undefined;
  }

  const noteFull = (error: unknown) => {
    if (!isFull) log.error({ err: error, directory }, 'a file could not be stored: its disk is full');
    isFull = true;
  };

  async function put(key: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<boolean> {
    const path = pathOf(key);
    const temporary = join(incoming, randomUUID());
    try {
      await ensureFolder();
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(atMost(content, maxBytes));
        await file.sync();
      } finally {
        await file.close();
      }
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await link(temporary, path);
      await syncDirectory(dirname(path));
      isFull = false;
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      const translated = translatedWrite(error);
      if (translated !== error) noteFull(error);
      // It vanished meanwhile; the next write makes it again.
      throw codeOf(error) === 'ENOENT' ? new ServiceError('unavailable', NOT_THERE, { cause: error }) : translated;
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
      return contentOf(pathOf(key), key);
    },
    faults: async () => {
      const fault = await ensureFolder().then(
        () => [],
        () => ['the folder of files is not there, or can not be used'],
      );
      return isFull ? [...fault, 'the last file could not be stored: its disk is full'] : fault;
    },
    async delete(key) {
      await ensureFolder();
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
    grantOf: (method, key, query) => readGrant(secrets, method, key, query, clock.now()),
  };
}
