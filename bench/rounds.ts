/** How much is measured: as much as makes a figure sure, or as little as tells of a fall, for every day. */
export type Effort = 'whole' | 'quick';

/** The middle one of some figures. */
export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** What a share of some figures, 0.99 say, stays at or under. */
export function percentile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!;
}

/**
 * Measures several things in turns, A B C A B C …, so that a busy moment of the machine hits all of them. The first turn
 * warms up and doesn't count.
 *
 * @returns the figures of each, in the order of the turns
 */
export async function inTurns<Name extends string, Figure>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name, isWarmUp: boolean) => Promise<Figure>,
): Promise<Record<Name, Figure[]>> {
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Figure[]>;
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const figure = await measure(name, round === 0);
      if (round > 0) figures[name].push(figure);
    }
  }
  return figures;
}
