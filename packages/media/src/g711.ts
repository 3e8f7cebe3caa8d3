/** G.711 (ITU-T G.711, 11/1988), by tables. The agent's side is always µ-law; PCMA costs one look-up a byte. */

/** Of both laws, in samples and in bytes a second. */
export const SAMPLE_RATE = 8000;
export const BYTES_PER_MS = SAMPLE_RATE / 1000;
/** Bytes of 20 ms. */
export const FRAME = 20 * BYTES_PER_MS;
export const ULAW_SILENCE = 0xff;

function ulawToPcm(code: number): number {
  const inverted = ~code & 0xff;
  const magnitude = ((((inverted & 15) << 3) + 0x84) << ((inverted >> 4) & 7)) - 0x84;
  return inverted & 0x80 ? -magnitude : magnitude;
}

function alawToPcm(code: number): number {
  const toggled = code ^ 0x55;
  const exponent = (toggled >> 4) & 7;
  const mantissa = (toggled & 15) << 4;
  const magnitude = exponent ? (mantissa + 0x108) << (exponent - 1) : mantissa + 8;
  return toggled & 0x80 ? magnitude : -magnitude;
}

/** The code whose value is nearest. Ties go to the positive code, so that µ-law silence, 0xff, is A-law 0xd5. */
function nearest(table: Int16Array, pcm: number): number {
  let best = 0;
  for (let code = 1; code < 256; code += 1) {
    if (Math.abs(table[code]! - pcm) <= Math.abs(table[best]! - pcm)) best = code;
  }
  return best;
}

/** 16-bit samples by code. */
export const ulawPcm = Int16Array.from({ length: 256 }, (_, code) => ulawToPcm(code));
export const alawPcm = Int16Array.from({ length: 256 }, (_, code) => alawToPcm(code));

const ulawByAlaw = Uint8Array.from(alawPcm, (pcm) => nearest(ulawPcm, pcm));
const alawByUlaw = Uint8Array.from(ulawPcm, (pcm) => nearest(alawPcm, pcm));

/** Turns A-law into µ-law. Back again, 240 of 256 codes come out as they were. */
export const alawToUlaw = (alaw: Uint8Array): Buffer => translated(alaw, ulawByAlaw);

/** Turns µ-law into A-law. */
export const ulawToAlaw = (ulaw: Uint8Array): Buffer => translated(ulaw, alawByUlaw);

function translated(from: Uint8Array, table: Uint8Array): Buffer {
  const to = Buffer.allocUnsafe(from.length);
  for (let at = 0; at < from.length; at += 1) to[at] = table[from[at]!]!;
  return to;
}

/** The µ-law code of a 16-bit sample: the nearest one. */
export function pcmToUlaw(pcm: number): number {
  const sign = pcm < 0 ? 0x80 : 0;
  const biased = Math.min(Math.abs(pcm), 32_635) + 0x84;
  const exponent = 31 - Math.clz32(biased) - 7;
  return ~(sign | (exponent << 4) | ((biased >> (exponent + 3)) & 15)) & 0xff;
}

const halves = Uint8Array.from(ulawPcm, (pcm) => pcmToUlaw(Math.trunc(pcm / 2)));

/** µ-law at half its amplitude: 6 dB less. */
export const halved = (ulaw: Uint8Array): Buffer => translated(ulaw, halves);
