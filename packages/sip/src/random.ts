import { randomBytes } from 'node:crypto';

/** Where tags, branches, weights and waits get their randomness from. */
export interface Random {
  bytes(count: number): Buffer;
  /** A number from 0 up to, but not including, 1. */
  number(): number;
}

/** So many are drawn at once: one by one they cost a twentieth of a call. */
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);

function pooledBytes(count: number): Buffer {
  if (count > POOL_BYTES) return randomBytes(count);
  if (pool.length < count) pool = randomBytes(POOL_BYTES);
  const drawn = pool.subarray(0, count);
  pool = pool.subarray(count);
  return drawn;
}

export const systemRandom: Random = { bytes: pooledBytes, number: Math.random };

/** A token that nobody guesses: 64 bits unless told otherwise (RFC 3261 section 19.3 asks for 32). */
export const randomToken = (random: Random, bytes = 8): string => random.bytes(bytes).toString('hex');
