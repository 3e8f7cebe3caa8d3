import { Interrupted, usageFault } from './faults.ts';
import { type Io, isInteractive, readAll } from './io.ts';

/** Prompts go to standard error, so that results can be piped. */
async function prompts({ stdin, stderr, signal }: Io) {
  const { confirm, isCancel, password, text } = await import('@clack/prompts');
  const common = { input: stdin, output: stderr, signal, withGuide: false };
  const answered = <Value>(answer: Value): Exclude<Value, symbol> => {
    if (isCancel(answer)) throw new Interrupted('Nothing was done.');
    return answer as Exclude<Value, symbol>;
  };
  return { confirm, password, text, common, answered };
}

/** Asks a person for a line. */
export async function askText(io: Io, message: string, initialValue: string): Promise<string> {
  const { text, common, answered } = await prompts(io);
  return answered(await text({ ...common, message, initialValue })).trim();
}

/** Asks a person for a secret, which isn't shown; without a terminal it is what standard input has. */
export async function askSecret(io: Io, message: string): Promise<string> {
  if (!isInteractive(io)) return (await readAll(io.stdin)).trim();
  const { password, common, answered } = await prompts(io);
  return answered(await password({ ...common, message })).trim();
}

/**
 * Goes on only where a person agrees; ends with `otherwise` where they don't. Without a terminal nobody can, so that
 * `--yes` is needed.
 */
export async function askYes(io: Io, { yes, message, otherwise }: Question): Promise<void> {
  if (yes === true) return;
  if (!isInteractive(io)) throw usageFault('Nobody can be asked here.', 'Add --yes.');
  const { confirm, common, answered } = await prompts(io);
  if (!answered(await confirm({ ...common, message, initialValue: false }))) throw new Interrupted(otherwise);
}

interface Question {
  /** What `--yes` says. */
  yes: unknown;
  message: string;
  otherwise: string;
}
