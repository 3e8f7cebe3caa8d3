import { type Challenge, parseChallenge, strengthOf, writeAuthorization } from './challenge.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { type Random, randomToken } from './random.ts';

export interface Credentials {
  username: string;
  password: string;
}

/** Two headers of the same kind: who asks, and where it is answered. */
const kinds = [
  { asks: 'www-authenticate', answers: 'authorization' },
  { asks: 'proxy-authenticate', answers: 'proxy-authorization' },
] as const;

interface Held {
  challenge: Challenge;
  answers: (typeof kinds)[number]['answers'];
  nonceCount: number;
}

/** How often each realm has been answered while one request goes out again and again. */
export type Tries = Map<string, number>;

/**
 * Answers digest challenges for one call, registration or request (RFC 8760): each realm's strongest, never one that is
 * weaker than what the realm has asked before. Later requests bear the answer at once, with a rising nonce count.
 */
export class DigestClient {
  readonly #credentials: Credentials | undefined;
  readonly #random: Random;
  readonly #held = new Map<string, Held>();

  constructor(credentials: Credentials | undefined, random: Random) {
    this.#credentials = credentials;
    this.#random = random;
  }

  /** Takes in the challenges of a 401 or 407. True where it is worth sending the request again. */
  learn(response: SipResponse, tries: Tries): boolean {
    if (!this.#credentials || (response.status !== 401 && response.status !== 407)) return false;
    let learned = false;
    for (const { asks, answers } of kinds) {
      const challenges = response.headers
        .all(asks)
        .map(parseChallenge)
        .filter((each) => each !== undefined);
      for (const challenge of strongestByRealm(challenges)) learned = this.#take(challenge, answers, tries) || learned;
    }
    return learned;
  }

  /** Puts what is known into a request that is about to be sent. */
  authorize(request: SipRequest): void {
    if (!this.#credentials) return;
    for (const { answers } of kinds) request.headers.delete(answers);
    for (const held of this.#held.values()) {
      held.nonceCount += 1;
      const { challenge } = held;
      const input = { ...this.#credentials, ...challenge, method: request.method, uri: request.uri };
      const qop = {
        nonceCount: held.nonceCount.toString(16).padStart(8, '0'),
        clientNonce: randomToken(this.#random),
      };
      request.headers.add(
        held.answers,
        writeAuthorization(challenge.hasQop ? { ...input, qop } : input, challenge.opaque),
      );
    }
  }

  #take(challenge: Challenge, answers: Held['answers'], tries: Tries): boolean {
    const key = `${answers} ${challenge.realm}`;
    const tried = tries.get(key) ?? 0;
    const before = this.#held.get(key);
    const isWeaker = before && strengthOf(challenge.algorithm) < strengthOf(before.challenge.algorithm);
    // The first refusal may be of an old nonce. After that only a server that says so gets another answer.
    if (isWeaker || tried >= 3 || (tried > 0 && !challenge.isStale)) return false;
    tries.set(key, tried + 1);
    this.#held.set(key, { challenge, answers, nonceCount: 0 });
    return true;
  }
}

function strongestByRealm(challenges: Challenge[]): Iterable<Challenge> {
  const byRealm = new Map<string, Challenge>();
  for (const challenge of challenges) {
    const other = byRealm.get(challenge.realm);
    if (!other || strengthOf(challenge.algorithm) > strengthOf(other.algorithm))
      byRealm.set(challenge.realm, challenge);
  }
  return byRealm.values();
}
