import { randomBytes } from 'node:crypto';

/** Where tags, branches, weights and waits get their randomness from. */
export interface Random {
  bytes(count: number): Buffer;
  /** A number from 0 up to, but not including, 1. */
  number(): number;
}

export const systemRandom: Random = { bytes: randomBytes, number: Math.random };

/** A token that nobody guesses: 64 bits unless told otherwise (RFC 3261 section 19.3 asks for 32). */
export const randomToken = (random: Random, bytes = 8): string => random.bytes(bytes).toString('hex');
