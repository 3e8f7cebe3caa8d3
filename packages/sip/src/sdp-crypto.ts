import { randomBytes } from 'node:crypto';
import type { SdpAttribute, SdpMedia } from './sdp.ts';

/** How packets are encrypted and authenticated (RFC 4568 section 6.2, RFC 7714 section 14.2). */
export type SrtpSuite = 'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32' | 'AEAD_AES_128_GCM';

/** The master key of what one side sends, and its salt behind it. */
export interface SrtpKey {
  suite: SrtpSuite;
  keyAndSalt: Uint8Array;
}

/** `a=crypto` (RFC 4568 section 9.1): a key of the side that says it, under a number. */
export interface CryptoLine extends SrtpKey {
  tag: string;
}

/** Whether a stream is encrypted: not at all; if the other side takes it; or it isn't taken at all. */
export type MediaEncryption = 'none' | 'preferred' | 'required';

const keyLengths: Record<SrtpSuite, number> = {
  AES_CM_128_HMAC_SHA1_80: 30,
  AES_CM_128_HMAC_SHA1_32: 30,
  AEAD_AES_128_GCM: 28,
};
/** What we offer, the best first. */
const offered: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32'];

export const isSuite = (name: string): name is SrtpSuite => Object.hasOwn(keyLengths, name);

export const isSameKey = (a: SrtpKey, b: SrtpKey): boolean =>
  a.suite === b.suite && Buffer.compare(a.keyAndSalt, b.keyAndSalt) === 0;

export const newKey = (suite: SrtpSuite): SrtpKey => ({ suite, keyAndSalt: randomBytes(keyLengths[suite]) });

/** A new key for each suite that we offer. */
export const newOffer = (): CryptoLine[] => offered.map((suite, at) => ({ tag: String(at + 1), ...newKey(suite) }));

const crypto = /^(\d{1,9}) +(\S+) +inline:([A-Za-z0-9+/]+={0,2})(?:\|(?:2\^)?\d{1,20})?((?: +\S+)*) *$/i;

/**
 * The keys of a media line that can be used, in its order. Left out are those with a key identifier, with several keys, and with
 * parameters that change what packets are like (sections 6.1 and 6.3).
 */
export function readCrypto({ attributes }: Pick<SdpMedia, 'attributes'>): CryptoLine[] {
  return attributes.flatMap(({ name, value = '' }) => {
    const [, tag, named = '', inline = '', parameters = ''] = (name === 'crypto' && crypto.exec(value)) || [];
    const suite = named.toUpperCase();
    // The window that a peer would have is a hint; all else that is named must be done.
    const isPlain = parameters.split(' ').every((each) => each === '' || /^WSH=\d+$/i.test(each));
    if (tag === undefined || !isSuite(suite) || !isPlain) return [];
    const keyAndSalt = Buffer.from(inline, 'base64');
    return keyAndSalt.length === keyLengths[suite] ? [{ tag, suite, keyAndSalt }] : [];
  });
}

/** Whether a description names keys, also such as can't be used. */
export const hasKeys = (sdp: string): boolean => /^a=crypto:/m.test(sdp);

export const cryptoAttribute = ({ tag, suite, keyAndSalt }: CryptoLine): SdpAttribute => ({
  name: 'crypto',
  value: `${tag} ${suite} inline:${Buffer.from(keyAndSalt).toString('base64')}`,
});
