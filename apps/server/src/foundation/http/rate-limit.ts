import { ServiceError } from '../values/service-error.ts';
import type { Principal } from './principal.ts';

interface Bucket {
  tokens: number;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

/**
 * Takes one request from the buckets of a key and of its workspace, and writes the headers to send; throws `rate_limited`
 * where one is empty, and takes nothing then.
 */
export type RateLimit = (
  principal: Pick<Principal, 'keyId' | 'workspaceId' | 'callId'>,
  headers: Record<string, string>,
) => void;

/** Buckets from which on the full ones are looked for, each time that there are twice as many as were left. */
const SWEEP_AT = 10_000;

/**
 * A token bucket for each key, and one for each workspace, whatever number of keys it makes: so many requests at once,
 * filled again in a minute; 0 switches one off. Counted in this process alone. The token of a call counts by itself: there
 * are as many as calls, for which there are other limits.
 */
export function createRateLimit(
  perMinute: { key: number; workspace: number },
  now: () => number = () => performance.now(),
): RateLimit {
  const [ofKeys, ofWorkspaces] = [new Quota('default', perMinute.key), new Quota('workspace', perMinute.workspace)];
  return ({ keyId, workspaceId, callId }, headers) => {
    const at = now();
    const quotas: [Quota, Bucket][] = [];
    if (perMinute.key > 0) quotas.push([ofKeys, ofKeys.bucket(keyId, at)]);
    if (perMinute.workspace > 0 && callId === undefined)
      quotas.push([ofWorkspaces, ofWorkspaces.bucket(workspaceId, at)]);
    if (quotas.length === 0) return;
    const wait = Math.max(...quotas.map(([quota, bucket]) => quota.waitOf(bucket)));
    if (wait === 0) for (const [, bucket] of quotas) bucket.tokens -= 1;
    headers['RateLimit'] = quotas.map(([quota, bucket]) => quota.left(bucket)).join(', ');
    headers['RateLimit-Policy'] = quotas.map(([quota]) => quota.policy).join(', ');
    if (wait === 0) return;
    const [limited] = quotas.find(([quota, bucket]) => quota.waitOf(bucket) === wait)!;
    const whose = limited === ofKeys ? 'this key' : 'all keys of this workspace together';
    throw new ServiceError(
      'rate_limited',
      `Too many requests with ${whose}. Try again in ${wait} second${wait === 1 ? '' : 's'}.`,
      { headers: { 'Retry-After': String(wait) } },
    );
  };
}

/** The buckets of one kind. One that is full again is forgotten, so memory is bounded by who came in the last minute. */
class Quota {
  readonly policy: string;
  readonly #name: string;
  readonly #perMinute: number;
  readonly #perMs: number;
  readonly #buckets = new Map<string, Bucket>();
  #sweepAt = SWEEP_AT;

  constructor(name: string, perMinute: number) {
    this.policy = `"${name}";q=${perMinute};w=60`;
    this.#name = name;
    this.#perMinute = perMinute;
    this.#perMs = perMinute / 60_000;
  }

  /** As it is at a time. */
  bucket(id: string, at: number): Bucket {
    if (this.#buckets.size > this.#sweepAt) this.#sweep(at);
    const bucket = this.#buckets.get(id) ?? { tokens: this.#perMinute, at };
    this.#buckets.set(id, bucket);
    bucket.tokens = this.#filled(bucket, at);
    bucket.at = at;
    return bucket;
  }

  /** Seconds until the next request can pass. */
  waitOf({ tokens }: Bucket): number {
    return tokens < 1 ? Math.ceil((1 - tokens) / this.#perMs / 1000) : 0;
  }

  left({ tokens }: Bucket): string {
    const full = Math.ceil((this.#perMinute - tokens) / this.#perMs / 1000);
    return `"${this.#name}";r=${Math.floor(tokens)};t=${full}`;
  }

  #filled(bucket: Bucket, at: number): number {
    return Math.min(this.#perMinute, bucket.tokens + (at - bucket.at) * this.#perMs);
  }

  #sweep(at: number): void {
    for (const [id, bucket] of this.#buckets) if (this.#filled(bucket, at) >= this.#perMinute) this.#buckets.delete(id);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#buckets.size);
  }
}
