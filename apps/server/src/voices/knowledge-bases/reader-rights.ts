import { existsSync, realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { canEnter, unprivilegedAccount } from '../../foundation/database/postgres/account.ts';

/** What the process of a reader may do: how Node is started, and as whom. */
export interface ReaderRights {
  flags: string[];
  /** Of another user than this process's, where that may be. */
  account: { uid: number; gid: number } | undefined;
}

/**
 * The rights of a process that reads strangers' files, which its libraries may have a hole for. It can read its program
 * and what that imports, and no other file; it writes none, starts no process and, from Node 25 on, opens no connection.
 * Where the server is root, it runs as `nobody`, if that user can reach the program.
 * @param program its path
 */
export async function readerRights(program: string): Promise<ReaderRights> {
  const readable = [path.dirname(program), ...modulesFoldersOf(program)];
  return {
    // The thread that ends it where it takes too much.
    flags: ['--permission', '--allow-worker', ...readable.map((folder) => `--allow-fs-read=${folder}`)],
    account: await accountOf(program),
  };
}

/** The folders in which Node looks for what a file imports; if one is a link, those around what it leads to as well. */
function modulesFoldersOf(file: string): string[] {
  const parent = path.dirname(file);
  if (parent === file) return [];
  const folder = path.join(parent, 'node_modules');
  const above = modulesFoldersOf(parent);
  if (!existsSync(folder)) return above;
  const real = realpathSync(folder);
  return [folder, ...(real === folder ? [] : [real, ...modulesFoldersOf(path.dirname(real))]), ...above];
}

async function accountOf(program: string): Promise<ReaderRights['account']> {
  const account = unprivilegedAccount(['nobody']);
  if (typeof account !== 'object') return undefined;
  for (const [file, mode] of [
    [process.execPath, 0o005],
    [program, 0o004],
  ] as const) {
    const found = await stat(file);
    if (!(await canEnter(path.dirname(file), account)) || (found.mode & mode) !== mode) return undefined;
  }
  return account;
}
