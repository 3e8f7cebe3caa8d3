const PLACES = 10_000;

/** Some of all, or so many per second: a rate as clients see it, with four decimal places wherever it stands. */
export const rate = (some: number, all: number): number => Math.round((some / all) * PLACES) / PLACES;
