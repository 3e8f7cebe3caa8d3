#!/usr/bin/env node
import { run } from './run.ts';

const { stdin, stdout, stderr, env } = process;

// Who reads only the first lines, as `head` does, wants no more.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    stopped.abort();
  });

process.exitCode = await run(process.argv.slice(2), { stdin, stdout, stderr, env, signal: stopped.signal });
// An answer that nobody waits for any more must not hold the program.
stdin.destroy();
