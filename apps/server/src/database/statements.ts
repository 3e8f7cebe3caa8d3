import type pg from 'pg';

const MOST_NAMES = 500;
const LONGEST_NAMED = 20_000;
const names = new Map<string, string>();
const seenOnce = new Set<string>();

/**
 * A query under a name that stands for its text, so that each connection parses and plans it once. Text gets its name
 * when it comes a second time; past 500 names the rest go unnamed, since a connection keeps a named one for ever.
 */
export function statement(text: string, values: readonly unknown[]): pg.QueryConfig {
  const name = nameOf(text);
  return name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };
}

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MOST_NAMES || text.length > LONGEST_NAMED) return known;
  if (!seenOnce.has(text)) {
    if (seenOnce.size >= MOST_NAMES) seenOnce.clear();
    seenOnce.add(text);
    return undefined;
  }
  seenOnce.delete(text);
  const name = `t${names.size}`;
  names.set(text, name);
  return name;
}
