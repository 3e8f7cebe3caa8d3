import { hash, randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 is just above 2^256. */
const LENGTH = 43;
const SHOWN = 12;

/** A new key, `tl_` + environment + 256 random bits in base62: `tl_live_…`. */
export function newKey(environment = 'live'): string {
  let rest = BigInt(`0x${randomBytes(32).toString('hex')}`);
  let text = '';
  for (let index = 0; index < LENGTH; index += 1) {
    text = ALPHABET[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return `tl_${environment}_${text}`;
}

/** The SHA-256 of a key, in hex: all that is stored of it, and what it is found by. */
export const hashKey = (key: string): string => hash('sha256', key, 'hex');

/** The beginning of a key, by which people tell their keys apart. */
export const prefixOf = (key: string): string => key.slice(0, SHOWN);
