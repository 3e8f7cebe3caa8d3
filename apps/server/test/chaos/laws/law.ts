import type { History } from '../history.ts';

/** What must hold however much went wrong. */
export interface Law {
  name: string;
  /** What breaks it, a line each, with the rows that show it. */
  breaches(history: History): string[];
}

/** Items by a key, in their order. */
export function groupsOf<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
