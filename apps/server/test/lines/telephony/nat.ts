import { execFileSync } from 'node:child_process';
import { createNetwork } from './network.ts';

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
  const network = createNetwork(3);
  const { own, public: outside, far, all, line, behind, filter, remove } = network;
  const [carrier, ...others] = far as [string, string, string];
  const [program, ...args] = behind;
  const table = (chain: string, ...rule: string[]) => filter('-t', 'nat', '-A', chain, ...rule);
  try {
    translate();
  } catch (error) {
    remove();
    throw error;
  }
  return {
    ...{ own, public: outside, carrier, others, all, behind, remove },
    bound: () => boundIn(execFileSync(program, [...args, 'cat', '/proc/net/udp'], { encoding: 'utf8' })),
    block: (isBlocked) => filter(isBlocked ? '-I' : '-D', 'FORWARD', '-i', line, '-j', 'DROP'),
  };

  function translate(): void {
    table('POSTROUTING', '-o', line, '-d', carrier, '-p', 'udp', '-j', 'MASQUERADE', '--random-fully');
    const toSource = ['-j', 'SNAT', '--to-source'];
    const sip = ['-p', 'udp', '--sport', `${sipPort}`];
    table('POSTROUTING', '-o', line, ...sip, ...toSource, `${outside}:${sipPort}`);
    table('POSTROUTING', '-o', line, ...toSource, outside);
    for (const address of others)
      table('PREROUTING', '-i', line, '-s', address, '-p', 'udp', '-j', 'DNAT', '--to-destination', own);
  }
}

const boundIn = (table: string) =>
  [...table.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4})/gm)].map(([, port]) => Number.parseInt(port!, 16));
