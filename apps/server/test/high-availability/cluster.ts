import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, open, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../until.ts';

const FILES = fileURLToPath(new URL('../../../../deploy/ha/', import.meta.url));
const [PATRONI, ETCD] = ['/usr/bin/patroni', '/usr/bin/etcd'];
/** PostgreSQL's programs: of 15 as the files say, or of what a later release of the system has. */
const BIN = [15, 16, 17].map((version) => `/usr/lib/postgresql/${version}/bin`).find(existsSync);
const NODES = [1, 2, 3];

/** Whether this machine has what the cluster needs. */
export const hasPatroni = [PATRONI, ETCD, `${BIN}/initdb`].every((file) => existsSync(file));

/** PostgreSQL on three machines, which fails over by itself: the very files of `deploy/ha`, at addresses of loopback. */
export interface Cluster {
  /** `DATABASE_URL` of a server. */
  url: string;
  /** The number of the machine that is the primary. Throws while there is none. */
  primary(): Promise<number>;
  /** Waits until all three are there, and one of them is the synchronous standby. */
  untilWhole(): Promise<void>;
  /** Kills PostgreSQL on a machine. */
  killPostgres(machine: number): Promise<void>;
  /** Kills all three on a machine: PostgreSQL, Patroni and etcd. As root, with iptables, its network is cut before. */
  killMachine(machine: number): Promise<void>;
  /** Starts Patroni and etcd there again. */
  startMachine(machine: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const folder = await mkdtemp(path.join(await roomyFolder(), 'trunkline-ha-'));
  const network = `127.${randomInt(2, 255)}.${randomInt(1, 255)}.1`;
  const host = (machine: number) => `${network}${machine}`;
  const dataOf = (machine: number) => path.join(folder, `db${machine}`, 'data');
  const account = await accountOf(folder);
  const running = new Map<number, ChildProcess[]>();

  /** A file of `deploy/ha`, as it would be on a machine. */
  const fileOf = async (name: string, machine: number) =>
    (await readFile(path.join(FILES, name), 'utf8'))
      .replaceAll('10.0.0.1', network)
      .replace(/^(\w*(?:LISTEN|ADVERTISE|CONNECT)\w*=.*)1(:\d+)$/gm, `$1${machine}$2`)
      .replace(/^(\w+_NAME=)db1$/m, `$1db${machine}`)
      .replaceAll('/etc/patroni/', `${folder}/`)
      .replace('/usr/lib/postgresql/15/bin', BIN!)
      .replace('/var/lib/postgresql/15/trunkline', dataOf(machine));

  async function start(program: string, args: string[], environment: string, machine: number): Promise<ChildProcess> {
    const home = path.join(folder, `db${machine}`);
    const variables = [...environment.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    const log = await open(path.join(home, `${path.basename(program)}.log`), 'a');
    const env = { PATH: process.env['PATH'], HOME: home, ETCD_DATA_DIR: path.join(home, 'etcd') };
    const child = spawn(program, args, {
      ...account,
      cwd: home,
      env: { ...env, ...Object.fromEntries(variables) },
      stdio: ['ignore', log.fd, log.fd],
    });
    await log.close();
    return child;
  }

  async function startMachine(machine: number): Promise<void> {
    const settings = path.join(folder, `db${machine}.yml`);
    await writeFile(settings, await fileOf('patroni.yml', machine));
    running.set(machine, [
      await start(ETCD, [], await fileOf('etcd.conf', machine), machine),
      await start(PATRONI, [settings], await fileOf('patroni_env.conf', machine), machine),
    ]);
  }

  async function killPostgres(machine: number): Promise<void> {
    const [pid] = (await readFile(path.join(dataOf(machine), 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
    if (pid) kill(Number(pid));
  }

  async function killMachine(machine: number): Promise<void> {
    cut(host(machine));
    // Patroni would start it again.
    const gone = running.get(machine)!.map((child) => child.kill('SIGKILL') && exitOf(child));
    await killPostgres(machine);
    await Promise.all(gone);
  }

  await copyFile(path.join(FILES, 'make-database.sh'), path.join(folder, 'make-database.sh'));
  for (const machine of NODES) {
    const home = path.join(folder, `db${machine}`);
    await mkdir(home, { mode: 0o700 });
    if (account.uid !== undefined) await chown(home, account.uid, account.gid!);
  }
  await Promise.all(NODES.map(startMachine));

  const member = async (machine: number, what: string) =>
    fetch(`http://${host(machine)}:8008/${what}`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
  const cluster: Cluster = {
    url: `postgres://trunkline:change-me-3@${NODES.map(host).join()}/trunkline`,
    primary: async () => {
      for (const machine of NODES) if ((await member(machine, 'primary'))?.ok) return machine;
      throw new Error('No machine is the primary.');
    },
    untilWhole: () =>
      until(async () => {
        const { members } = (await (await member(await cluster.primary(), 'cluster'))!.json()) as {
          members: { role: string; state: string }[];
        };
        const roles = members.filter(({ state }) => /^(running|streaming)$/.test(state)).map(({ role }) => role);
        const wanted = ['leader', 'replica', 'sync_standby'];
        if (roles.sort().join() !== wanted.join()) throw new Error(JSON.stringify(members));
      }, 120),
    killPostgres,
    killMachine,
    startMachine: async (machine) => {
      mend(host(machine));
      await startMachine(machine);
    },
    stop: async () => {
      for (const machine of NODES) await killMachine(machine);
      for (const machine of NODES) mend(host(machine));
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
  return cluster;
}

/** Adds rules by which no packet reaches or leaves an address, or takes them away. Whether that could be done. */
function rules(change: '-I' | '-D', address: string): boolean {
  const done = ['-d', '-s'].map(
    (side) => spawnSync('iptables', ['-w', change, 'OUTPUT', side, address, '-j', 'DROP'], { stdio: 'ignore' }).status,
  );
  return done.every((status) => status === 0);
}

const cut = (address: string) => rules('-I', address);

/** Undoes all that was cut there. */
function mend(address: string): void {
  while (rules('-D', address));
}

const kill = (pid: number) => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

const exitOf = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null
    ? undefined
    : new Promise((resolve) => child.once('exit', resolve));

/** PostgreSQL refuses to run as root. Gives it the folder. */
async function accountOf(folder: string): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid!() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const account = { uid: id('-u'), gid: id('-g') };
  await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o755);
  return account;
}

/** Memory, if there is much. */
async function roomyFolder(): Promise<string> {
  if (!existsSync('/dev/shm')) return tmpdir();
  const { bavail, bsize } = await statfs('/dev/shm');
  return bavail * bsize > 4 * 2 ** 30 ? '/dev/shm' : tmpdir();
}
