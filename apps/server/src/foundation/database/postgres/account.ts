import { execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { chown, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * The user that PostgreSQL runs as. Undefined: the one that this process runs as. `namespace`: root, whom it takes for
 * another because it runs in a user namespace of its own; its files then are root's.
 */
export type Account = { uid: number; gid: number } | 'namespace' | undefined;

/**
 * PostgreSQL refuses to run as root; for root this is the user `postgres`, or `nobody`, where root may become them.
 * @param names of the users to look for, the first that there is
 */
export function unprivilegedAccount(names = ['postgres', 'nobody']): Account {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of names) {
    try {
      const ask = (...args: string[]) => execFileSync('id', args, { encoding: 'utf8', stdio: 'pipe' });
      const account = { uid: Number(ask('-u', name)), gid: Number(ask('-g', name)) };
      execFileSync('id', { ...account, cwd: '/', stdio: 'ignore' });
      return account;
    } catch {
      // No such user here, or a container that knows root only: try the next.
    }
  }
  return 'namespace';
}

/** Whether the account can enter this folder, judged by the mode of each folder on the way. */
export async function canEnter(folder: string, account: Account): Promise<boolean> {
  if (typeof account !== 'object') return true;
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const { uid, gid, mode } = await stat(at);
    const enter = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & enter) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** Gives a file to the account, if that is another user than this process's. */
export async function giveTo(account: Account, file: string): Promise<void> {
  if (typeof account === 'object') await chown(file, account.uid, account.gid);
}

/** Nothing of our environment, and messages that don't depend on the machine. */
const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Starts a program of PostgreSQL as the account. */
export function spawnAs(account: Account, program: string, args: readonly string[], options: SpawnOptions = {}) {
  const common = { cwd: '/', env, ...options };
  if (account === 'namespace') return spawn('unshare', ['--user', '--', program, ...args], common);
  return spawn(program, args, { ...common, ...account });
}

/**
 * Runs a program of PostgreSQL to its end. Throws an error with what it wrote when it fails.
 * @param input is written to its standard input
 */
export function runAs(account: Account, program: string, args: readonly string[], input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawnAs(account, program, args);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (part) => {
        output += part;
      });
    }
    child.on('error', (cause) =>
      reject(new Error(`${path.basename(program)} can't be run${hint(account)}`, { cause })),
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else
        reject(new Error(`${path.basename(program)} failed (${code}): ${output.trim().slice(-2000)}${hint(account)}`));
    });
  });
}

const hint = (account: Account) =>
  account === 'namespace' ? ' (root can become no other user here: run as a normal user, or set DATABASE_URL)' : '';
