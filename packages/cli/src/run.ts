import { CommanderError } from 'commander';
import { explain, report } from './explain.ts';
import { exitCodes, Interrupted } from './faults.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';

/** Runs a command line, without the name of the program. Resolves to the exit code, and never rejects. */
export async function run(words: readonly string[], io: Io): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    // What a request rejects with when it is ended from here is the signal's reason.
    const cause =
      io.signal.aborted && !(error instanceof Interrupted)
        ? new Interrupted('Stopped. What was on its way may have been done.')
        : error;
    const explained = explain(cause);
    report(io, explained, program.opts()['json'] === true);
    return explained.exitCode;
  }
}
