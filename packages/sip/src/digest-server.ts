import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Algorithm, digestResponse, parseDigest } from './challenge.ts';
import type { Clock } from './clock.ts';
import { callIdOf, type SipRequest } from './message.ts';
import { type Parameters, quote } from './syntax.ts';
import type { Target } from './transport.ts';

/** Who may call with a password. */
export interface Authentication {
  realm: string;
  /** The password of a user, or undefined where there is none of that name. */
  passwordOf(username: string, request: SipRequest, source: Target): string | undefined | Promise<string | undefined>;
  /**
   * Whether a request may be answered now; each may where this is left out.
   * @param isTry it answers a challenge of ours, which only who is at its source can have got: a try of a password, which is
   * looked up next. Otherwise a challenge is sent next, and the source may be forged.
   */
  allows?(request: SipRequest, source: Target, isTry: boolean): boolean;
}

/** What a request's Authorization is worth; `ignored` where it may not even be answered. */
export type Verdict = { isAuthentic: true; username: string } | { isAuthentic: false; isStale: boolean } | 'ignored';

/** A caller answers within a round trip; what is used is kept no longer than this. */
const NONCE_MS = 60_000;
/** So many nonces can be in use at a time; beyond them nobody gets in, so that no count is forgotten. */
const MAX_NONCES = 20_000;
/** What is hashed where there is no such user, so that the time it takes tells nothing. */
const NO_PASSWORD = 'no such user';
const offered: Algorithm[] = ['SHA-256', 'MD5'];

/**
 * Challenges requests (RFC 7616, RFC 8760). A nonce holds for a minute, one address and one Call-ID, and each of its
 * counts once, so that nobody calls with what he overheard. A nonce that is not ours costs one hash, and asks for nobody's
 * password.
 */
export class DigestServer {
  readonly #authentication: Authentication;
  readonly #secret: Buffer;
  readonly #clock: Clock;
  /** The highest count of each nonce that was used, and until when it holds. */
  readonly #used = new Map<string, { count: number; until: number }>();

  constructor(authentication: Authentication, secret: Buffer, clock: Clock) {
    this.#authentication = authentication;
    this.#secret = secret;
    this.#clock = clock;
  }

  /** The values of the WWW-Authenticate headers of a 401, the strongest first. */
  challenges(request: SipRequest, source: Target, isStale: boolean): string[] {
    const nonce = this.#nonce(timeOf(this.#clock.now()), request, source);
    const stale = isStale ? ', stale=true' : '';
    return offered.map(
      (algorithm) =>
        `Digest realm=${quote(this.#authentication.realm)}, nonce="${nonce}", algorithm=${algorithm}, qop="auth"${stale}`,
    );
  }

  async judge(request: SipRequest, source: Target): Promise<Verdict> {
    const given = request.headers.all('authorization').map(parseDigest);
    const mine = given.find((each) => each?.get('realm') === this.#authentication.realm);
    const algorithm = offered.find((each) => each === (mine?.get('algorithm') ?? 'MD5').toUpperCase());
    const isTry = mine?.get('qop') === 'auth' && this.#isOurs(mine, request, source);
    if (this.#authentication.allows?.(request, source, isTry) === false) return 'ignored';
    if (!isTry || !algorithm) return refused;
    const username = mine.get('username') ?? '';
    const password = await this.#authentication.passwordOf(username, request, source);
    const isRight = this.#isRight(mine, algorithm, username, password ?? NO_PASSWORD, request);
    if (password === undefined || !isRight) return refused;
    return this.#isFresh(mine) ? { isAuthentic: true, username } : { isAuthentic: false, isStale: true };
  }

  /** Whether the nonce was made here for this address and call. */
  #isOurs(given: Parameters, request: SipRequest, source: Target): boolean {
    const nonce = given.get('nonce') ?? '';
    return areEqual(nonce, this.#nonce(nonce.split('.')[0]!, request, source));
  }

  #isRight(given: Parameters, algorithm: Algorithm, username: string, password: string, request: SipRequest): boolean {
    const field = (name: string) => given.get(name) ?? '';
    // The URI that was hashed must be the one that is asked for.
    if (field('uri') !== request.uri) return false;
    const expected = digestResponse({
      username,
      password,
      realm: this.#authentication.realm,
      nonce: field('nonce'),
      algorithm,
      method: request.method,
      uri: field('uri'),
      qop: { nonceCount: field('nc'), clientNonce: field('cnonce') },
    });
    return areEqual(expected, field('response').toLowerCase());
  }

  /** Whether the nonce holds still, and its count is a new one. */
  #isFresh(given: Parameters): boolean {
    const nonce = given.get('nonce')!;
    const now = this.#clock.now();
    const until = Number.parseInt(nonce, 36) + NONCE_MS;
    if (!(now < until)) return false;
    const count = Number.parseInt(given.get('nc') ?? '', 16);
    const used = this.#used.get(nonce);
    if (!(count > (used?.count ?? 0))) return false;
    if (!used && this.#used.size >= MAX_NONCES) this.#forgetOld(now);
    if (!used && this.#used.size >= MAX_NONCES) return false;
    this.#used.set(nonce, { count, until });
    return true;
  }

  #forgetOld(now: number): void {
    for (const [nonce, { until }] of this.#used) if (until <= now) this.#used.delete(nonce);
  }

  #nonce(time: string, request: SipRequest, { transport, address }: Target): string {
    const bound = createHmac('sha256', this.#secret).update(`${time}\0${transport}\0${address}\0${callIdOf(request)}`);
    return `${time}.${bound.digest('base64url').slice(0, 22)}`;
  }
}

const refused: Verdict = { isAuthentic: false, isStale: false };

const timeOf = (ms: number) => ms.toString(36);

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
