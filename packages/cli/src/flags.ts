import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { usageFault } from './faults.ts';
import { type Io, readAll } from './io.ts';

type KindOf<Value> = Value extends boolean
  ? 'switch'
  : Value extends number
    ? 'number'
    : Value extends readonly string[]
      ? 'list'
      : Value extends string
        ? 'text'
        : never;

/**
 * The fields of a body or a query that are flags: what they take, and what to say of them. A field that the contract
 * doesn't have, or has as something else, doesn't compile.
 */
export type Flags<Fields> = {
  readonly [Key in Extract<keyof Fields, string>]?: readonly [kind: KindOf<NonNullable<Fields[Key]>>, says: string];
};
type AnyFlags = Readonly<Record<string, readonly [kind: string, says: string] | undefined>>;

/** What flags of any fields are, where it doesn't matter of which. */
export type Options = Readonly<Record<string, unknown>>;

const placeholders: Readonly<Record<string, string>> = { text: ' <text>', number: ' <n>', list: ' <a,b>', switch: '' };

/** `maxConcurrency` is `--max-concurrency`. */
const dashed = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Gives a command its flags. A switch has its `--no-…` too. */
export function addFlags(command: Command, flags: AnyFlags): void {
  for (const [name, [kind = '', says = ''] = []] of Object.entries(flags)) {
    command.option(dashed(name) + placeholders[kind], says, readers[kind] as (value: string) => string);
    if (kind === 'switch') command.addOption(command.createOption(`--no-${dashed(name).slice(2)}`).hideHelp());
  }
}

/** Reads a whole number, of which flags such as `--limit` have one. */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It takes a number.');
}
const list = (text: string) => text.split(',').map((each) => each.trim());
const readers: Readonly<Record<string, unknown>> = { number, list };

/** The fields that were given as flags. */
export const given = (options: Options, flags: AnyFlags): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(flags)
      .filter((name) => options[name] !== undefined)
      .map((name) => [name, options[name]]),
  );

export const DATA_FLAG = ['--data <file>', 'the whole body as JSON; - reads standard input'] as const;

/** The body that `--data` names, or an empty one. */
export async function readData(io: Io, file: unknown): Promise<Record<string, unknown>> {
  if (typeof file !== 'string') return {};
  const value = parseJson(await readText(io, file), file === '-' ? 'Standard input' : file);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw usageFault(`${file === '-' ? 'Standard input' : file} holds no JSON object.`);
}

/** The text of a file, or of standard input for `-`. */
export async function readText(io: Io, file: string): Promise<string> {
  if (file === '-') return readAll(io.stdin);
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageFault(`${file} can't be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}.`);
  });
}

/** Reads JSON. `name` is what is said of a text that is none. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageFault(`${name} is no JSON: ${(error as Error).message}.`);
  }
}
