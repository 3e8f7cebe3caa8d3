import type pg from 'pg';

const MOST_NAMES = 500;
const LONGEST_NAMED = 20_000;

/** Makes a query of a text and its values. */
export type Statement = (text: string, values: readonly unknown[]) => pg.QueryConfig;

/**
 * The queries of one database under names that stand for their texts, so that each connection parses and plans them
 * once. Text gets its name when it comes a second time; past 500 names the rest go unnamed, since a connection keeps a
 * named one for ever.
 */
export function namedStatements(): Statement {
  const names = new Map<string, string>();
  const seenOnce = new Set<string>();

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

  return (text, values) => {
    const name = nameOf(text);
    return name === undefined ? { text, values: [...values] } : { name, text, values: [...values] };
  };
}
