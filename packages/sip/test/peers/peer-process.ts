import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Where a program is; undefined where it isn't installed. Servers are not on everybody's path. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/bin'];
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file));
}

/** A port of 127.0.0.1 that is free for UDP and TCP, and the one above it for UDP, at this moment. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 2 * Math.floor(8000 + Math.random() * 8000);
    if ((await isFreeForUdp(port)) && (await isFreeForUdp(port + 1)) && (await isFreeForTcp(port))) return port;
  }
}

const isFreeForUdp = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = createSocket('udp4');
    socket.on('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => socket.close(() => resolve(true)));
  });

const isFreeForTcp = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

export interface PeerProcess {
  folder: string;
  /** What it has printed; for the message of a test that fails. */
  output(): string;
  hasEnded(): boolean;
  stop(): Promise<void>;
}

/** A folder for one peer's files. */
export const peerFolder = (): string => mkdtempSync(path.join(tmpdir(), 'sip-peer-'));

/** Runs a peer in a folder that goes with it. It dies with this process at the latest. */
export function runPeer(program: string, args: readonly string[], folder: string): PeerProcess {
  // In a group of its own: where it must be killed, the processes that it has forked would hold its ports.
  const child: ChildProcess = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  const keep = (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-200_000);
  };
  child.stdout!.on('data', keep);
  child.stderr!.on('data', keep);
  child.on('error', (error) => keep(Buffer.from(String(error))));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // They are gone.
    }
  };
  process.on('exit', kill);
  return {
    folder,
    output: () => output,
    hasEnded: () => child.exitCode !== null,
    stop: async () => {
      child.kill('SIGTERM');
      const late = setTimeout(kill, 5000);
      await ended;
      clearTimeout(late);
      kill();
      process.off('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Asks the kernel where it tells: to try the port would take it from the peer at the wrong moment. */
const isBound = async (port: number): Promise<boolean> =>
  existsSync('/proc/net/udp')
    ? readFileSync('/proc/net/udp', 'utf8').includes(`:${port.toString(16).toUpperCase().padStart(4, '0')} `)
    : !(await isFreeForUdp(port));

/** Waits until a peer has bound its UDP port. @param bound the ports of the network that it is in, if not on loopback */
export async function untilBound(port: number, peer: PeerProcess, bound?: () => number[]): Promise<void> {
  const end = Date.now() + 120_000;
  while (bound ? !bound().includes(port) : !(await isBound(port))) {
    if (peer.hasEnded() || Date.now() > end) throw new Error(`The peer did not start: ${peer.output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
