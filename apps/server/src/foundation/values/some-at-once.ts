/** Does something with every item, with so many at a time, and answers in their order. Throws what the first of them throws. */
export async function someAtOnce<Item, Result>(
  most: number,
  items: readonly Item[],
  perform: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const work = async () => {
    for (const [at, item] of left) results[at] = await perform(item);
  };
  await Promise.all(Array.from({ length: most }, work));
  return results;
}
