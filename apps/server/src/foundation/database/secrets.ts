import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { canonicalBytes } from '../values/canonical-base64.ts';

/**
 * Secrets as the database keeps them: AES-256-GCM under the server's key. `place` names the column and the row; what was
 * encrypted for one place can't be read at another.
 */
export interface Secrets {
  encrypt(plain: string, place: string): string;
  /** Throws where the text was changed, or encrypted with another key or for another place. */
  decrypt(encrypted: string, place: string): string;
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1.';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Keys of 32 bytes: the current one, under which all is encrypted, and others under which something still may be. */
export type EncryptionKeys = readonly [current: Buffer, ...others: Buffer[]];

/** @param keys see `loadEncryptionKeys` */
export function createSecrets(...keys: EncryptionKeys): Secrets {
  return {
    encrypt(plain, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, keys[0], nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
    },
    decrypt(encrypted, place) {
      if (!encrypted.startsWith(VERSION)) throw new Error('A secret in the database has an unknown form.');
      const bytes = canonicalBytes(encrypted.slice(VERSION.length), 'base64');
      if (!bytes) throw new Error('A secret in the database is not in base64 as it was written.');
      for (const key of keys.slice(0, -1)) {
        try {
          return opened(key, bytes, place);
        } catch {
          // It is under another key.
        }
      }
      return opened(keys.at(-1)!, bytes, place);
    },
  };
}

function opened(key: Buffer, bytes: Buffer, place: string): string {
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

const KEY_FILE = 'encryption.key';

/** What the settings say of keys. */
interface KeySettings {
  encryptionKey: Buffer | undefined;
  encryptionKeySecond: Buffer | undefined;
  dataDir: string;
}

/**
 * The key of `ENCRYPTION_KEY`, else the one kept in the data folder, made at the first start, and that of
 * `ENCRYPTION_KEY_SECOND`. Servers that start at once on one folder get the same key. Throws where the file holds no key.
 */
export async function loadEncryptionKeys(settings: KeySettings): Promise<EncryptionKeys> {
  return (
    (await findEncryptionKeys(settings)) ??
    withSecond(await makeKey(path.join(settings.dataDir, KEY_FILE)), settings.encryptionKeySecond)
  );
}

/** The same, where there is one already. */
export async function findEncryptionKeys(settings: KeySettings): Promise<EncryptionKeys | undefined> {
  const current = settings.encryptionKey ?? (await readKey(path.join(settings.dataDir, KEY_FILE)));
  return current && withSecond(current, settings.encryptionKeySecond);
}

const withSecond = (current: Buffer, second: Buffer | undefined): EncryptionKeys =>
  second ? [current, second] : [current];

async function readKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const key = Buffer.from(text, 'base64');
  if (key.length !== 32) throw new Error(`${file} must hold 32 bytes in base64.`);
  return key;
}

/** Written whole under another name and then linked, which only the first of several can do. */
async function makeKey(file: string): Promise<Buffer> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft);
  }
  return (await readKey(file))!;
}
