import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findProgram } from '../../../../packages/sip/test/peers/peer-process.ts';

const ip = findProgram('ip');
const iptables = findProgram('iptables');

/** Whether this process may make networks: as root, with `ip` and `iptables`, where the kernel lets it. */
export const hasNetworks = process.getuid?.() === 0 && ip && iptables ? tryNetworks() : false;
if (hasNetworks) removeWhatKilledRunsLeft();

/**
 * This machine, a router and a network behind it. The router translates our addresses to its own there, and who is there
 * knows no way to ours.
 */
export interface Nat {
  /** Ours, before the translation. */
  own: string;
  /** The router's, in the network behind it: what we look like there. */
  public: string;
  /** Of the network behind it; to it, our ports are changed too, and nobody gets through who wasn't spoken to. */
  carrier: string;
  /** Two more, which reach our ports by the router's: those are ours, and are handed on. */
  others: [string, string];
  /** All of them. */
  all: string;
  /** What a program is started by in the network behind the router. */
  behind: [program: string, ...args: string[]];
  /** The UDP ports that are bound there. */
  bound(): number[];
  /** Whether packets from there to us are dropped from now on. */
  block(isBlocked: boolean): void;
  remove(): void;
}

/** Makes one. @param sipPort ours, which the router keeps where it hands on */
export function createNat(sipPort: number): Nat {
  const name = `tl${process.pid.toString(36)}`;
  const [router, far] = [`${name}r`, `${name}c`];
  const net = `10.${64 + (process.pid % 128)}`;
  const nat: Nat = {
    own: `${net}.1.2`,
    public: `${net}.2.1`,
    carrier: `${net}.2.2`,
    others: [`${net}.2.3`, `${net}.2.4`],
    all: `${net}.0.0/16`,
    behind: [ip!, 'netns', 'exec', far],
    bound: () => boundIn(run('netns', 'exec', far, 'cat', '/proc/net/udp')),
    block: (isBlocked) => inRouter(iptables!, isBlocked ? '-I' : '-D', 'FORWARD', '-i', `${name}x`, '-j', 'DROP'),
    remove: () => remove([router, far]),
  };
  const inRouter = (...args: string[]) => void run('netns', 'exec', router, ...args);
  const table = (chain: string, ...rule: string[]) => inRouter(iptables!, '-t', 'nat', '-A', chain, ...rule);
  try {
    make();
  } catch (error) {
    nat.remove();
    throw error;
  }
  return nat;

  function make(): void {
    for (const namespace of [router, far]) run('netns', 'add', namespace);
    run('link', 'add', `${name}o`, 'type', 'veth', 'peer', 'name', `${name}i`, 'netns', router);
    run('-n', router, 'link', 'add', `${name}x`, 'type', 'veth', 'peer', 'name', `${name}f`, 'netns', far);
    run('address', 'add', `${nat.own}/24`, 'dev', `${name}o`);
    run('-n', router, 'address', 'add', `${net}.1.1/24`, 'dev', `${name}i`);
    run('-n', router, 'address', 'add', `${nat.public}/24`, 'dev', `${name}x`);
    for (const address of [nat.carrier, ...nat.others])
      run('-n', far, 'address', 'add', `${address}/24`, 'dev', `${name}f`);
    run('link', 'set', `${name}o`, 'up');
    for (const device of [`${name}i`, `${name}x`]) run('-n', router, 'link', 'set', device, 'up');
    for (const device of ['lo', `${name}f`]) run('-n', far, 'link', 'set', device, 'up');
    run('route', 'add', `${net}.2.0/24`, 'via', `${net}.1.1`);
    inRouter('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    table('POSTROUTING', '-o', `${name}x`, '-d', nat.carrier, '-p', 'udp', '-j', 'MASQUERADE', '--random-fully');
    const toSource = ['-j', 'SNAT', '--to-source'];
    table(
      'POSTROUTING',
      '-o',
      `${name}x`,
      '-p',
      'udp',
      '--sport',
      `${sipPort}`,
      ...toSource,
      `${nat.public}:${sipPort}`,
    );
    table('POSTROUTING', '-o', `${name}x`, ...toSource, nat.public);
    for (const address of nat.others)
      table('PREROUTING', '-i', `${name}x`, '-s', address, '-p', 'udp', '-j', 'DNAT', '--to-destination', nat.own);
  }
}

/** Without its network the other end of a line goes too, and with it our address and route. */
function remove(namespaces: string[]): void {
  for (const namespace of namespaces)
    try {
      run('netns', 'delete', namespace);
    } catch {
      // It was not made.
    }
}

/** Their names hold the process that made them. */
function removeWhatKilledRunsLeft(): void {
  for (const [name, process36] of run('netns', 'list').matchAll(/^tl([0-9a-z]+)[rc]\b/gm))
    if (!existsSync(`/proc/${Number.parseInt(process36!, 36)}`)) remove([name]);
}

function run(...args: string[]): string {
  return execFileSync(ip!, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const boundIn = (table: string) =>
  [...table.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4})/gm)].map(([, port]) => Number.parseInt(port!, 16));

function tryNetworks(): boolean {
  const name = `tltry${process.pid}`;
  try {
    run('netns', 'add', name);
  } catch {
    return false;
  }
  try {
    run('netns', 'exec', name, iptables!, '-t', 'nat', '-L', '-n');
    return true;
  } catch {
    return false;
  } finally {
    run('netns', 'delete', name);
  }
}
