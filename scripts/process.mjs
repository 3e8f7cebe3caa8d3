import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder. */
export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const bin = path.join(root, 'node_modules/.bin');

/** The pinned Node, once installed. */
export const node = path.join(bin, 'node');

/** What children get: the installed commands first, the pinned Node among them, and no tool that phones home. */
const common = {
  ...process.env,
  PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}`,
  TURBO_TELEMETRY_DISABLED: '1',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  DO_NOT_TRACK: '1',
  // What Node has made of a source serves the next start: a third of a server's.
  NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/node'),
  // The compiler of types, a program in Go, takes a third less where it collects less often, and no more memory to speak of.
  GOGC: '400',
};

/** Writes a line to a person; standard output belongs to the task. */
export const say = (text) => void process.stderr.write(`${text}\n`);

const running = new Set();
let received;

const exitCodeOf = (signal) => 128 + constants.signals[signal];

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    received = signal;
    if (running.size === 0) process.exit(exitCodeOf(signal));
    // A terminal's Ctrl-C reaches the children by itself.
    if (signal === 'SIGINT' && process.stdin.isTTY) return;
    for (const child of running) child.kill(signal);
  });
}

/** Ends this process where a signal has asked for it; what the signal ended is no failure to go on from. */
function exitIfSignalled() {
  if (received) process.exit(exitCodeOf(received));
}

/** @param options.environment what the child gets in place of this process's own */
function run(command, args, { cwd = root, env = {}, environment = common, stdio }) {
  const child = spawn(command, args, { cwd, env: { ...environment, ...env }, stdio });
  running.add(child);
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => parts.push(part));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const output = Buffer.concat(parts).toString();
      resolve({ code: code ?? exitCodeOf(signal), output });
    });
  }).finally(() => running.delete(child));
}

/** Runs a command on this terminal, with the signals that come here, as the last thing. Resolves to its exit code. */
export async function runToTheEnd(command, args, options = {}) {
  return (await run(command, args, { ...options, stdio: 'inherit' })).code;
}

/** Runs a command on this terminal, as a step of several. Resolves to its exit code, with no output kept. */
export async function runStep(command, args, options = {}) {
  const ended = await run(command, args, { ...options, stdio: 'inherit' });
  exitIfSignalled();
  return ended;
}

/** Runs a command and keeps what it writes. Resolves to its exit code and output, also when it fails. */
export async function runQuietly(command, args, options = {}) {
  const ended = await run(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  exitIfSignalled();
  return ended;
}
