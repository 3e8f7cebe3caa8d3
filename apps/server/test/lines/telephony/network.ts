import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { findProgram } from '../../../../../packages/sip/test/peers/peer-process.ts';

const ip = findProgram('ip');
const iptables = findProgram('iptables');

/** Whether this process may make networks: as root, with `ip` and `iptables`, where the kernel lets it. */
export const hasNetworks = process.getuid?.() === 0 && ip && iptables ? tryNetworks() : false;
if (hasNetworks) removeWhatKilledRunsLeft();

/** This machine, a router, and a network behind it. The router knows both sides; who is behind it knows no way to ours. */
export interface Network {
  /** Ours. */
  own: string;
  /** The router's, on our side, and in the network behind it. */
  near: string;
  public: string;
  /** Of the network behind it. */
  far: string[];
  /** All of them. */
  all: string;
  /** The router's line to the network behind it. */
  line: string;
  /** What a program is started by in the network behind the router. */
  behind: [program: string, ...args: string[]];
  /** Runs `iptables` in the router. */
  filter(...args: string[]): void;
  /** Shows those behind it a way to ours. */
  showWay(): void;
  remove(): void;
}

/** Makes one. @param addresses how many there are in the network behind the router */
export function createNetwork(addresses: number): Network {
  const name = `tl${process.pid.toString(36)}`;
  const [router, far] = [`${name}r`, `${name}c`];
  const net = `10.${64 + (process.pid % 128)}`;
  const network: Network = {
    own: `${net}.1.2`,
    near: `${net}.1.1`,
    public: `${net}.2.1`,
    far: Array.from({ length: addresses }, (_, at) => `${net}.2.${2 + at}`),
    all: `${net}.0.0/16`,
    line: `${name}x`,
    behind: [ip!, 'netns', 'exec', far],
    filter: (...args) => void run('netns', 'exec', router, iptables!, ...args),
    showWay: () => void run('-n', far, 'route', 'add', `${net}.1.0/24`, 'via', network.public),
    remove: () => remove([router, far]),
  };
  try {
    make();
  } catch (error) {
    network.remove();
    throw error;
  }
  return network;

  function make(): void {
    for (const namespace of [router, far]) run('netns', 'add', namespace);
    run('link', 'add', `${name}o`, 'type', 'veth', 'peer', 'name', `${name}i`, 'netns', router);
    run('-n', router, 'link', 'add', network.line, 'type', 'veth', 'peer', 'name', `${name}f`, 'netns', far);
    run('address', 'add', `${network.own}/24`, 'dev', `${name}o`);
    run('-n', router, 'address', 'add', `${network.near}/24`, 'dev', `${name}i`);
    run('-n', router, 'address', 'add', `${network.public}/24`, 'dev', network.line);
    for (const address of network.far) run('-n', far, 'address', 'add', `${address}/24`, 'dev', `${name}f`);
    run('link', 'set', `${name}o`, 'up');
    for (const device of [`${name}i`, network.line]) run('-n', router, 'link', 'set', device, 'up');
    for (const device of ['lo', `${name}f`]) run('-n', far, 'link', 'set', device, 'up');
    run('route', 'add', `${net}.2.0/24`, 'via', network.near);
    run('netns', 'exec', router, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
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
