import { ServiceError } from '../values/service-error.ts';

interface Bucket {
  tokens: number;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

/** Takes one request from a key's bucket, and writes the headers to send; throws `rate_limited` where it is empty. */
export type RateLimit = (keyId: string, headers: Record<string, string>) => void;

/** Buckets from which on the full ones are looked for, each time that there are twice as many as were left. */
const SWEEP_AT = 10_000;

/**
 * A token bucket for each key: `perMinute` requests at once, filled again in a minute; 0 switches it off. Counted in
 * this process alone. A bucket that is full again is forgotten, so memory is bounded by the keys of the last minute.
 */
export function createRateLimit(perMinute: number, now: () => number = () => performance.now()): RateLimit {
  if (perMinute === 0) return () => undefined;
  const perMs = perMinute / 60_000;
  const policy = `"default";q=${perMinute};w=60`;
  const buckets = new Map<string, Bucket>();
  let sweepAt = SWEEP_AT;
  const filled = (bucket: Bucket, at: number) => Math.min(perMinute, bucket.tokens + (at - bucket.at) * perMs);
  return (keyId, headers) => {
    const at = now();
    if (buckets.size > sweepAt) {
      for (const [id, bucket] of buckets) if (filled(bucket, at) >= perMinute) buckets.delete(id);
      sweepAt = Math.max(SWEEP_AT, 2 * buckets.size);
    }
    const bucket = buckets.get(keyId) ?? { tokens: perMinute, at };
    buckets.set(keyId, bucket);
    bucket.tokens = filled(bucket, at);
    bucket.at = at;
    const wait = bucket.tokens < 1 ? Math.ceil((1 - bucket.tokens) / perMs / 1000) : 0;
    if (wait === 0) bucket.tokens -= 1;
    const full = Math.ceil((perMinute - bucket.tokens) / perMs / 1000);
    headers['RateLimit'] = `"default";r=${Math.floor(bucket.tokens)};t=${full}`;
    headers['RateLimit-Policy'] = policy;
    if (wait === 0) return;
    throw new ServiceError('rate_limited', `Too many requests. Try again in ${wait} second${wait === 1 ? '' : 's'}.`, {
      headers: { 'Retry-After': String(wait) },
    });
  };
}
