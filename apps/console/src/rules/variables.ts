const PLACE = /\{\{\s*([^\s{}|]+)\s*(\|[^{}]*)?\}\}/g;
const SHOWN = 24;

/** What the texts of an agent say of whom it talks to. */
export interface Spoken {
  /** Every variable, each once. */
  names: string[];
  /** Those that nothing is said in the place of. */
  needed: string[];
  /** Braces that are no variable, as they begin. */
  loose: string | undefined;
}

/** Reads `{{variables}}`, with filters such as `{{name | default: "there"}}`. */
export function spokenIn(...texts: string[]): Spoken {
  const found = texts.flatMap((text) => [...text.matchAll(PLACE)]);
  const needed = found.filter(([, , filters]) => !filters?.includes('default'));
  const once = (matches: RegExpExecArray[]) => [...new Set(matches.map(([, name]) => name!))];
  const rest = texts.map((text) => text.replace(PLACE, '')).find((text) => text.includes('{{'));
  return {
    names: once(found),
    needed: once(needed),
    loose: rest?.slice(rest.indexOf('{{'), rest.indexOf('{{') + SHOWN),
  };
}

/** Which of them the columns of a list don't have. Everybody may have a name. */
export const missingIn = ({ needed }: Spoken, columns: readonly string[]): string[] =>
  needed.filter((name) => name !== 'name' && !columns.includes(name));
