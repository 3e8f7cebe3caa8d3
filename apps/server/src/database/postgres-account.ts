import { execFileSync, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';

/** The user that PostgreSQL runs as; undefined means the user that this process runs as. */
export type Account = { uid: number; gid: number } | undefined;

/** PostgreSQL refuses to run as root; for root this is the user `postgres`, or `nobody`. */
export function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // No such user here: try the next.
    }
  }
  return { uid: 65534, gid: 65534 };
}

/** Whether the account can enter this folder, judged by the mode of each folder on the way. */
export async function canEnter(folder: string, account: Account): Promise<boolean> {
  if (!account) return true;
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const { uid, gid, mode } = await stat(at);
    const enter = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & enter) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

/** The environment of PostgreSQL's programs: nothing of ours, and messages that don't depend on the machine. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Runs a program of PostgreSQL to its end. Throws an error with what it wrote when it fails.
 * @param input is written to its standard input
 */
export function runAs(account: Account, program: string, args: readonly string[], input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...account, cwd: '/', env: postgresEnvironment });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
    child.on('error', reject);
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${path.basename(program)} failed (${code}): ${output.trim().slice(-2000)}`));
    });
  });
}
