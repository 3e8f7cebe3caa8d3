import type pg from 'pg';

const MOST_NAMES = 500;
const LONGEST_NAMED = 20_000;

/** Makes a query of a text, to be sent with its values. */
export type Statement = (text: string) => pg.QueryConfig;

/**
 * The queries of one database under names that stand for their texts, so that each connection parses and plans them
 * once. Text gets its name when it comes a second time; past 500 names the rest go unnamed, since a connection keeps a
 * named one for ever.
 */
export function namedStatements(): Statement {
  const named = new Map<string, pg.QueryConfig>();
  const seenOnce = new Set<string>();

  return (text) => {
    const known = named.get(text);
    if (known) return known;
    if (named.size >= MOST_NAMES || text.length > LONGEST_NAMED) return { text };
    if (!seenOnce.has(text)) {
      if (seenOnce.size >= MOST_NAMES) seenOnce.clear();
      seenOnce.add(text);
      return { text };
    }
    seenOnce.delete(text);
    // The driver copies all that a query itself has, which takes a microsecond; what it inherits it just reads.
    const query = Object.create({ name: `t${named.size}`, text }) as pg.QueryConfig;
    named.set(text, query);
    return query;
  };
}
