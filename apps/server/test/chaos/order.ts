import { chances } from '../chances.ts';

/** A fault that is to be done. */
export interface Drawn<Name extends string> {
  name: Name;
  /** Milliseconds until then, from the start of the one before. */
  pauseMs: number;
  /** Whether the one before it is let run to its end first. */
  waits: boolean;
  /** What the fault draws its own numbers from, so that they don't hang on how long the others took. */
  seed: number;
}

/** The order of faults that a seed makes, without an end: in rounds, so that each one comes. */
export function* drawOrder<Name extends string>(seed: number, names: readonly Name[]): Generator<Drawn<Name>, never> {
  const chance = chances(seed);
  // The first numbers of small seeds lie close together.
  for (let at = 0; at < 8; at += 1) chance();
  for (;;) {
    for (const name of shuffled(names, chance)) {
      yield {
        name,
        pauseMs: Math.round(300 + chance() * 1700),
        waits: chance() < 0.75,
        seed: Math.floor(chance() * 2 ** 31),
      };
    }
  }
}

function shuffled<Item>(items: readonly Item[], chance: () => number): Item[] {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(chance() * left.length), 1)[0]!);
}
