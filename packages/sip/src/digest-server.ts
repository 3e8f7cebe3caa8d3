import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Algorithm, digestResponse, parseDigest } from './challenge.ts';
import type { Clock } from './clock.ts';
import { callIdOf, type SipRequest } from './message.ts';
import { type Parameters, quote } from './syntax.ts';

/** Who may call with a password. */
export interface Authentication {
  realm: string;
  /** The password of a user, or undefined where there is none of that name. */
  passwordOf(username: string, request: SipRequest): string | undefined | Promise<string | undefined>;
}

/** What a request's Authorization is worth. */
export type Verdict = { isAuthentic: true; username: string } | { isAuthentic: false; isStale: boolean };

const NONCE_MS = 5 * 60_000;
const MAX_NONCES = 10_000;
const offered: Algorithm[] = ['SHA-256', 'MD5'];

/**
 * Challenges requests (RFC 7616, RFC 8760). A nonce holds for five minutes and one Call-ID, and each of its counts
 * once, so that nobody calls with what he overheard.
 */
export class DigestServer {
  readonly #authentication: Authentication;
  readonly #secret: Buffer;
  readonly #clock: Clock;
  /** The highest count of each nonce that was used. */
  readonly #counts = new Map<string, number>();

  constructor(authentication: Authentication, secret: Buffer, clock: Clock) {
    this.#authentication = authentication;
    this.#secret = secret;
    this.#clock = clock;
  }

  /** The values of the WWW-Authenticate headers of a 401, the strongest first. */
  challenges(request: SipRequest, isStale: boolean): string[] {
    const nonce = this.#nonce(this.#clock.now(), request);
    const stale = isStale ? ', stale=true' : '';
    return offered.map(
      (algorithm) =>
        `Digest realm=${quote(this.#authentication.realm)}, nonce="${nonce}", algorithm=${algorithm}, qop="auth"${stale}`,
    );
  }

  async judge(request: SipRequest): Promise<Verdict> {
    const given = request.headers.all('authorization').map(parseDigest);
    const mine = given.find((each) => each?.get('realm') === this.#authentication.realm);
    const algorithm = offered.find((each) => each === (mine?.get('algorithm') ?? 'MD5'));
    if (!mine || !algorithm || mine.get('qop') !== 'auth') return { isAuthentic: false, isStale: false };
    const username = mine.get('username') ?? '';
    const password = await this.#authentication.passwordOf(username, request);
    if (password === undefined || !this.#isRight(mine, algorithm, username, password, request))
      return { isAuthentic: false, isStale: false };
    if (!this.#isFresh(mine, request)) return { isAuthentic: false, isStale: true };
    return { isAuthentic: true, username };
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

  #isFresh(given: Parameters, request: SipRequest): boolean {
    const nonce = given.get('nonce') ?? '';
    const at = Number.parseInt(nonce.split('-')[0]!, 16);
    const age = this.#clock.now() - at;
    if (!areEqual(nonce, this.#nonce(at, request)) || !(age >= 0 && age < NONCE_MS)) return false;
    const count = Number.parseInt(given.get('nc') ?? '', 16);
    if (!(count > (this.#counts.get(nonce) ?? 0))) return false;
    this.#counts.delete(nonce);
    if (this.#counts.size >= MAX_NONCES) this.#counts.delete(this.#counts.keys().next().value!);
    this.#counts.set(nonce, count);
    return true;
  }

  #nonce(at: number, request: SipRequest): string {
    const time = (Number.isFinite(at) ? at : 0).toString(16);
    return `${time}-${createHmac('sha256', this.#secret)
      .update(`${time}\0${callIdOf(request)}`)
      .digest('hex')
      .slice(0, 32)}`;
  }
}

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
