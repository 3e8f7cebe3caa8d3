import { ServiceError } from '../values/service-error.ts';
import type { Principal } from './principal.ts';

interface Bucket {
  tokens: number;
  /** Milliseconds of `performance.now()`. */
  at: number;
  /** When the next is taken that does not come among the first at once. */
  nextAt: number;
}

/**
 * Takes one request from the buckets of a key and of its workspace, and writes the headers to send; throws `rate_limited`
 * where one is empty, and takes nothing then. @returns how many milliseconds the request is to wait
 */
export type RateLimit = (
  principal: Pick<Principal, 'keyId' | 'workspaceId' | 'callId' | 'memberId' | 'isStranger' | 'isOperator'>,
  headers: Record<string, string>,
) => number;

/** A bucket holds a minute of requests. Beside others a workspace has so many of them at once, and the rest one by one. */
const AT_ONCE = 50;
/** That one by one is so many times as fast as its bucket fills. */
const FASTER = 2;
/** No request waits longer, in milliseconds. */
const LONGEST_MS = 10_000;
/** For so long after its last request a workspace is one beside which others go one by one, in milliseconds. */
const BESIDE_MS = 1000;

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
  const isBesideOthers = besideOthers();
  return ({ keyId, workspaceId, callId, memberId, isStranger, isOperator }, headers) => {
    const at = now();
    const isOfNone = isStranger || isOperator;
    const isOfWorkspace = callId === undefined && !isOfNone;
    const single = perMinute.key > 0 ? ofKeys.bucket(keyId, at) : undefined;
    const shared = perMinute.workspace > 0 && isOfWorkspace ? ofWorkspaces.bucket(workspaceId, at) : undefined;
    if (!single && !shared) return 0;
    const waits = { single: single ? ofKeys.waitOf(single) : 0, shared: shared ? ofWorkspaces.waitOf(shared) : 0 };
    const wait = Math.max(waits.single, waits.shared);
    if (wait === 0 && single) single.tokens -= 1;
    if (wait === 0 && shared) shared.tokens -= 1;
    headers['RateLimit'] = joined(single && ofKeys.left(single), shared && ofWorkspaces.left(shared));
    headers['RateLimit-Policy'] = joined(single && ofKeys.policy, shared && ofWorkspaces.policy);
    const isBeside = !isOfNone && isBesideOthers(workspaceId, at);
    if (wait === 0) return shared && isBeside ? ofWorkspaces.pace(shared, at) : 0;
    const own = memberId === undefined ? 'with this key' : 'of yours';
    const ofKey = isStranger ? 'from this address' : own;
    const whose = waits.single === wait ? ofKey : 'of this workspace, by all keys and members together';
    throw new ServiceError(
      'rate_limited',
      `Too many requests ${whose}. Try again in ${wait} second${wait === 1 ? '' : 's'}.`,
      { headers: { 'Retry-After': String(wait) } },
    );
  };
}

/** Header fields of two quotas, or of the one that counts. */
const joined = (one: string | undefined, other: string | undefined): string =>
  one !== undefined && other !== undefined ? `${one}, ${other}` : (one ?? other ?? '');

/** Notes who asks, and answers whether another workspace has asked within the last second. */
function besideOthers(): (workspaceId: string, at: number) => boolean {
  let last = { workspaceId: '', at: Number.NEGATIVE_INFINITY };
  let before = last;
  return (workspaceId, at) => {
    if (last.workspaceId !== workspaceId) before = last;
    last = { workspaceId, at };
    return at - before.at < BESIDE_MS;
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
    const bucket = this.#buckets.get(id) ?? { tokens: this.#perMinute, at, nextAt: 0 };
    this.#buckets.set(id, bucket);
    bucket.tokens = this.#filled(bucket, at);
    bucket.at = at;
    return bucket;
  }

  /** Seconds until the next request can pass. */
  waitOf({ tokens }: Bucket): number {
    return tokens < 1 ? Math.ceil((1 - tokens) / this.#perMs / 1000) : 0;
  }

  /** Has requests go one by one that come after the first of many. @returns how many milliseconds this one is to wait */
  pace(bucket: Bucket, at: number): number {
    const apartMs = 1 / this.#perMs / FASTER;
    bucket.nextAt = Math.min(Math.max(bucket.nextAt, at - AT_ONCE * apartMs) + apartMs, at + LONGEST_MS);
    return Math.max(0, bucket.nextAt - at);
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
