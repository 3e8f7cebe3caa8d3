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
 * Whether it is JSON at all is not looked at.
 */
export function checkNesting(json: string): void {
  if (json.length < SHORTEST_TOO_DEEP) return;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if ((code & EITHER) === OPENS && ++depth > MAX_DEPTH) throw tooDeep();
    else if ((code & EITHER) === CLOSES) depth -= 1;
  }
}

/** Where the text that begins at a quote ends, or all does. */
function endOfText(json: string, start: number): number {
  let at = start + 1;
  for (let code = json.charCodeAt(at); at < json.length && code !== QUOTE; code = json.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1;
  return at;
}
