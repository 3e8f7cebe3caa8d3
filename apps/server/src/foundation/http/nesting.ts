import { faultAt } from './request-fault.ts';

/** How deep a body may nest (api.md, "Limits of a request"). */
export const MAX_DEPTH = 32;
export const tooDeep = () => faultAt('/body', `must nest at most ${MAX_DEPTH} levels deep`);
/** What is shorter is no JSON that nests deeper. */
const SHORTEST_TOO_DEEP = 2 * (MAX_DEPTH + 1);

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
/** `[` and `{`, `]` and `}`: alike but for one bit. */
const [OPENS, CLOSES, EITHER] = [0x5b, 0x5d, ~0x20];

/**
 * Refuses JSON that nests deeper than 32 levels, before it is parsed: to parse megabytes of `[` takes longer than others
 * should wait.
 * @param bytes in UTF-8; whether they are JSON at all is not looked at
 */
export function checkNesting(bytes: Uint8Array): void {
  if (bytes.length < SHORTEST_TOO_DEEP) return;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if ((byte & EITHER) === OPENS && ++depth > MAX_DEPTH) throw tooDeep();
    else if ((byte & EITHER) === CLOSES) depth -= 1;
  }
}

/** Where the text that begins at a quote ends, or the bytes do. */
function endOfText(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
