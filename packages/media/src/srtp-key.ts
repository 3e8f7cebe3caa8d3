import { createCipheriv } from 'node:crypto';

/** How packets are encrypted and authenticated, by its name in `a=crypto` (RFC 4568 section 6.2, RFC 7714 section 14.2). */
export type SrtpSuite = 'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32' | 'AEAD_AES_128_GCM';

/** The master key of what one side sends. It can be sent to another thread. */
export interface SrtpKey {
  suite: SrtpSuite;
  /** The key of 16 bytes, and the salt: 14 bytes, of GCM 12. */
  keyAndSalt: Uint8Array;
}

/** The keys of both directions of a stream. */
export interface SrtpKeys {
  send: SrtpKey;
  receive: SrtpKey;
}

/** What packets of one kind are treated with. */
export interface SessionKeys {
  cipherKey: Buffer;
  authKey: Buffer;
  salt: Buffer;
}

const KEY_BYTES = 16;
const AUTH_BYTES = 20;

/** Whether two keys are the same. */
export const isSameKey = (a: SrtpKey, b: SrtpKey): boolean =>
  a.suite === b.suite && Buffer.compare(a.keyAndSalt, b.keyAndSalt) === 0;

/**
 * The keys that RTP or RTCP goes by, with a key derivation rate of 0 (RFC 3711 section 4.3). The salt of GCM is two bytes
 * shorter, and filled up with zeros for this (RFC 7714 section 11).
 */
export function sessionKeys({ keyAndSalt }: SrtpKey, of: 'rtp' | 'rtcp'): SessionKeys {
  const masterKey = keyAndSalt.subarray(0, KEY_BYTES);
  const masterSalt = keyAndSalt.subarray(KEY_BYTES);
  const first = of === 'rtp' ? 0 : 3;
  const derived = (label: number, length: number) => {
    const counter = Buffer.alloc(16);
    counter.set(masterSalt);
    counter[7]! ^= label;
    return createCipheriv('aes-128-ctr', masterKey, counter).update(Buffer.alloc(length));
  };
  return {
    cipherKey: derived(first, KEY_BYTES),
    authKey: derived(first + 1, AUTH_BYTES),
    salt: derived(first + 2, masterSalt.length),
  };
}
