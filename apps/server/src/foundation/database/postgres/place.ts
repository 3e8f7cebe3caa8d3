import { createHash, randomUUID } from 'node:crypto';
import { link, lstat, mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openDataDir } from '../../values/data-dir.ts';
import { type Account, canEnter, giveTo, unprivilegedAccount } from './account.ts';

/** Where an embedded PostgreSQL lives, and as whom. */
export interface Place {
  account: Account;
  /** PostgreSQL's own data folder, mode 0700. */
  data: string;
  /** The folder of its socket, mode 0700: who can enter it is the database's only lock. */
  sockets: string;
}

/** Root's place for data when DATA_DIR lies where the unprivileged account can't go, as in a home of mode 0700. */
const SHARED_STATE = '/var/lib/trunkline';

/** `sun_path` holds 108 bytes on Linux, 104 on macOS, with a closing zero. */
const LONGEST_SOCKET_PATH = 103;

/** Finds the place that belongs to this DATA_DIR; the same one at every start. Makes DATA_DIR when there is none. */
export async function findPlace(dataDir: string): Promise<Place> {
  await openDataDir(dataDir);
  const home = await realpath(dataDir);
  let account = unprivilegedAccount();
  const data = await dataFolder(home, account).catch((error) => {
    if (error.code !== 'EROFS' && error.code !== 'EACCES') throw error;
    account = 'namespace';
    return path.join(home, 'postgres');
  });
  account = await ownerOf(data, account);
  return { account, data, sockets: await socketFolder(data, account) };
}

/** PostgreSQL wants to be the owner of its data; for root that may be whoever ran it the first time. */
async function ownerOf(data: string, account: Account): Promise<Account> {
  const found = account && (await stat(data).catch(() => undefined));
  if (!found) return account;
  return found.uid === 0 ? 'namespace' : { uid: found.uid, gid: found.gid };
}

async function dataFolder(home: string, account: Account): Promise<string> {
  const note = path.join(home, 'postgres.location');
  const noted = await readNote(note);
  if (noted) return path.join(SHARED_STATE, noted);
  if (await canEnter(home, account)) return path.join(home, 'postgres');

  await mkdir(SHARED_STATE, { recursive: true, mode: 0o755 });
  // A note in DATA_DIR rather than a hash of its path: a deleted DATA_DIR must not find its old data again.
  const draft = `${note}.${randomUUID()}`;
  await writeFile(draft, randomUUID());
  await link(draft, note).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return path.join(SHARED_STATE, (await readNote(note)) ?? '');
}

/** The name of the folder in `SHARED_STATE`. Nothing but a UUID is let through: root may delete what it names. */
async function readNote(note: string): Promise<string | undefined> {
  const text = await readFile(note, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  if (!/^[0-9a-f-]{36}$/.test(text)) throw new Error(`${note} does not hold the name of a data folder.`);
  return text;
}

async function socketFolder(data: string, account: Account): Promise<string> {
  if (Buffer.byteLength(socketFile(data)) <= LONGEST_SOCKET_PATH) return data;
  const folder = path.join('/tmp', `trunkline-${createHash('sha256').update(data).digest('hex').slice(0, 16)}`);
  await mkdir(folder, { mode: 0o700 }).then(
    () => giveTo(account, folder),
    (error) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  const found = await lstat(folder);
  const ours = found.uid === process.getuid?.() || (typeof account === 'object' && found.uid === account.uid);
  if (!found.isDirectory() || !ours || (found.mode & 0o077) !== 0) {
    throw new Error(`${folder} belongs to someone else; the database's socket can't be put there.`);
  }
  return folder;
}

/** The socket that PostgreSQL makes in a folder. */
const socketFile = (folder: string) => path.join(folder, '.s.PGSQL.5432');
