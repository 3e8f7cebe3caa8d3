import { createHash } from 'node:crypto';
import { isToken, type Parameters, quote, splitOutside, unquote } from './syntax.ts';

/** What a digest challenge asks (RFC 3261 section 22, RFC 7616, RFC 8760). */
export interface Challenge {
  realm: string;
  nonce: string;
  opaque?: string;
  algorithm: Algorithm;
  /** With `qop="auth"`; without one as RFC 2069 had it. */
  hasQop: boolean;
  isStale: boolean;
}

/** The ones that we know, from the weakest to the strongest. */
export const algorithms = ['MD5', 'MD5-sess', 'SHA-256', 'SHA-256-sess', 'SHA-512-256', 'SHA-512-256-sess'] as const;
export type Algorithm = (typeof algorithms)[number];

export const strengthOf = (algorithm: Algorithm): number => Math.floor(algorithms.indexOf(algorithm) / 2);

const hashNames = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const;

const hashWith = (algorithm: Algorithm) => (text: string) =>
  createHash(hashNames[algorithm.replace('-sess', '') as keyof typeof hashNames])
    .update(text, 'utf8')
    .digest('hex');

/** The parameters of `Digest a="b", c=d`; undefined where it is another scheme. */
export function parseDigest(value: string): Parameters | undefined {
  if (!/^Digest\s/i.test(value)) return undefined;
  const parameters: Parameters = new Map();
  for (const part of splitOutside(value.slice(7), ',')) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    if (isToken(name) && !parameters.has(name)) parameters.set(name, unquote(part.slice(equals + 1).trim()));
  }
  return parameters;
}

/** A challenge that we can answer; undefined where it asks for what we don't know, such as `auth-int` alone. */
export function parseChallenge(value: string): Challenge | undefined {
  const parameters = parseDigest(value);
  const realm = parameters?.get('realm');
  const nonce = parameters?.get('nonce');
  if (!parameters || realm === undefined || nonce === undefined) return undefined;
  const named = (parameters.get('algorithm') ?? 'MD5').toLowerCase();
  const algorithm = algorithms.find((each) => each.toLowerCase() === named);
  const qops = parameters
    .get('qop')
    ?.toLowerCase()
    .split(',')
    .map((qop) => qop.trim());
  if (algorithm === undefined || (qops && !qops.includes('auth'))) return undefined;
  const opaque = parameters.get('opaque');
  return {
    realm,
    nonce,
    ...(opaque !== undefined && { opaque }),
    algorithm,
    hasQop: qops !== undefined,
    isStale: parameters.get('stale')?.toLowerCase() === 'true',
  };
}

/** What is hashed into a response (RFC 7616 section 3.4). */
export interface DigestInput {
  username: string;
  password: string;
  realm: string;
  nonce: string;
  algorithm: Algorithm;
  method: string;
  uri: string;
  /** With qop: the nonce count, as eight hexadecimal digits, and the client's nonce. */
  qop?: { nonceCount: string; clientNonce: string };
}

export function digestResponse({ username, password, realm, nonce, algorithm, method, uri, qop }: DigestInput): string {
  const hash = hashWith(algorithm);
  const plain = hash(`${username}:${realm}:${password}`);
  const a1 = algorithm.endsWith('-sess') ? hash(`${plain}:${nonce}:${qop?.clientNonce ?? ''}`) : plain;
  const a2 = hash(`${method}:${uri}`);
  return qop ? hash(`${a1}:${nonce}:${qop.nonceCount}:${qop.clientNonce}:auth:${a2}`) : hash(`${a1}:${nonce}:${a2}`);
}

/** The value of an Authorization or Proxy-Authorization header. */
export function writeAuthorization(input: DigestInput, opaque: string | undefined): string {
  const { username, realm, nonce, uri, algorithm, qop } = input;
  const parts = [
    `username=${quote(username)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(uri)}`,
    `response="${digestResponse(input)}"`,
    `algorithm=${algorithm}`,
  ];
  if (opaque !== undefined) parts.push(`opaque=${quote(opaque)}`);
  if (qop) parts.push('qop=auth', `cnonce="${qop.clientNonce}"`, `nc=${qop.nonceCount}`);
  return `Digest ${parts.join(', ')}`;
}
