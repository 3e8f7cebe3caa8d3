import { stripTypeScriptTypes } from 'node:module';
import { parseAst } from 'vitest/node';

/** A change of one line that a test should notice. */
export interface Mutation {
  /** From 1. */
  line: number;
  /** What was done, to be read by people. */
  what: string;
  /** The whole source with it. */
  source: string;
}

/** What is changed wherever it stands in a line of code, one place at a time. */
const swaps: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/ <= /g, ' < '],
  [/ >= /g, ' > '],
  [/ < /g, ' <= '],
  [/ > /g, ' >= '],
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ <> /g, ' = '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\bif \((?!false)/g, 'if (false && '],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [/\bleast\(/g, 'greatest('],
  [/\bgreatest\(/g, 'least('],
];

/** A predicate of SQL that ends with its line or before the next: `and x = 1`. */
const predicate = /\b(?:and|or) (?:(?!\band\b|\bor\b).)+/g;
/** A statement that is a call alone, or an assignment. */
const statement = /^\s+(?:(?:await |void )?[\w.#?!]+\(.*\)|[\w.#[\]!]+ [-+*]?= .*);$/;

/** @returns the changes of each line of code that leave the source readable, from the first line to the last */
export function mutationsOf(source: string): Mutation[] {
  const lines = source.split('\n');
  return lines.flatMap((text, at) =>
    changesOf(text)
      .map(({ what, instead }) => ({ line: at + 1, what, source: lines.with(at, instead).join('\n') }))
      .filter((mutation) => isReadable(mutation.source)),
  );
}

function changesOf(text: string): { what: string; instead: string }[] {
  if (/^\s*(\/\/|\/?\*|import |export (type|interface) |interface |type )/.test(text)) return [];
  const changes = swaps.flatMap(([pattern, instead]) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      what: `${found.trim()} becomes ${instead.trim()}`,
      instead: text.slice(0, index) + instead + text.slice(index + found.length),
    })),
  );
  for (const { 0: found, index } of text.matchAll(predicate))
    if (isBalanced(found))
      changes.push({
        what: `without: ${found.trim()}`,
        instead: text.slice(0, index) + text.slice(index + found.length),
      });
  if (statement.test(text)) changes.push({ what: `without: ${text.trim()}`, instead: '' });
  return changes;
}

/** Whether each bracket and quote in it is closed in it. */
function isBalanced(text: string): boolean {
  const depth = (open: string, close: string) => text.split(open).length - text.split(close).length;
  return depth('(', ')') === 0 && depth('{', '}') === 0 && text.split("'").length % 2 === 1 && !text.includes('`');
}

function isReadable(source: string): boolean {
  try {
    parseAst(stripTypeScriptTypes(source));
    return true;
  } catch {
    return false;
  }
}
