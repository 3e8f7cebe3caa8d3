import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { createClient, type TrunklineClient } from '@trunkline/client';
import { inject, onTestFinished } from 'vitest';
import type { Output } from '../src/io.ts';
import { run } from '../src/run.ts';

/** Where what a program writes is kept. */
function written(columns: number | undefined): { stream: Output; text: () => string } {
  let all = '';
  const stream: Output = new Writable({
    write(chunk, _encoding, done) {
      all += chunk;
      done();
    },
  });
  if (columns) Object.assign(stream, { isTTY: true, columns });
  return { stream, text: () => all };
}

export interface Options {
  /** Columns of the terminal that it runs in; without them it runs in none. */
  columns?: number;
  stdin?: string;
  env?: Record<string, string>;
}

/** A command line that runs. */
export interface Running {
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  /** Presses Ctrl-C. */
  interrupt(): void;
  ended: Promise<Ended>;
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Starts a command line in this process, logged in by the environment. */
export function start(words: readonly string[], { columns, stdin = '', env = {} }: Options = {}): Running {
  const [stdout, stderr] = [written(columns), written(columns)];
  const stopped = new AbortController();
  const { url, apiKey } = inject('server');
  const ended = run(words, {
    stdin: Readable.from([stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { TRUNKLINE_BASE_URL: url, TRUNKLINE_API_KEY: apiKey, ...env },
    signal: stopped.signal,
  }).then((code) => ({ code, stdout: stdout.text(), stderr: stderr.text() }));
  return { stdout: stdout.text, stderr: stderr.text, interrupt: () => stopped.abort(), ended };
}

/** Runs a command line to its end. */
export const cli = (words: readonly string[], options?: Options): Promise<Ended> => start(words, options).ended;

/** Runs a command line that must end well, and reads its JSON. */
export async function json<Value = Record<string, unknown>>(...words: string[]): Promise<Value> {
  const { code, stdout, stderr } = await cli([...words, '--json']);
  if (code !== 0) throw new Error(`trunkline ${words.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Value;
}

/** The client of the tests' workspace, to arrange things with. */
export function client(): TrunklineClient {
  const { url, apiKey } = inject('server');
  return createClient({ baseUrl: url, apiKey });
}

/** A file that is deleted with the test. Returns its path. */
export async function file(name: string, content: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-cli-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const made = path.join(folder, name);
  await writeFile(made, content);
  return made;
}
