import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where Debian's package and Homebrew put the oldest PostgreSQL that Trunkline supports. */
const places = [
  '/usr/lib/postgresql/15/bin',
  '/opt/homebrew/opt/postgresql@15/bin',
  '/usr/local/opt/postgresql@15/bin',
];

const patience = 30_000;

/**
 * Starts an empty PostgreSQL 15 for tests, on a socket only, with a role that is no superuser. Resolves to its URL and
 * a function that removes it, or to undefined where none is installed.
 */
export async function startOldestPostgres() {
  const bin = places.find((place) => existsSync(path.join(place, 'initdb')));
  if (!bin) return undefined;
  const folder = mkdtempSync(path.join(parentFolder(), 'trunkline-pg15-'));
  const account = accountOf(folder);
  const options = { ...account, cwd: folder, encoding: 'utf8', stdio: ['pipe', 'ignore', 'pipe'] };
  const ask = (program, args, input) => execFileSync(path.join(bin, program), args, { ...options, input });
  const data = path.join(folder, 'data');
  ask('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']);

  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, 'fsync=off', 'max_connections=400'];
  const server = spawn(path.join(bin, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
    ...options,
    stdio: 'ignore',
  });
  const stop = () => {
    server.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  process.on('exit', stop);
  const psql = (input) => ask('psql', ['-h', folder, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'], input);
  await untilItAnswers(() => psql('select 1'));
  psql('create role trunkline login createdb; create database trunkline owner trunkline;');
  return { url: `postgresql://trunkline@${encodeURIComponent(folder)}/trunkline`, stop };
}

/** Memory, where there is much, as in `apps/server/test/global-setup.ts`. */
function parentFolder() {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4 * 2 ** 30 ? memory : tmpdir();
}

/** PostgreSQL refuses to run as root: then it runs as `postgres`, which Debian's package makes. */
function accountOf(folder) {
  if (process.getuid() !== 0) return {};
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const account = { uid: id('-u'), gid: id('-g') };
  chownSync(folder, account.uid, account.gid);
  return account;
}

async function untilItAnswers(ask) {
  for (const end = Date.now() + patience; ; await sleep(100)) {
    try {
      return ask();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
