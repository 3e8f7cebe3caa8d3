/** What was read or is to be written is no SIP (RFC 3261 section 25). The message names the culprit. */
export class SipSyntaxError extends Error {
  override name = 'SipSyntaxError';
}

/** Parameters by name in lower case; a parameter without a value, such as `lr`, has ''. */
export type Parameters = Map<string, string>;

const CONTROL = /\p{Cc}/u;
const TOKEN = /^[A-Za-z0-9.!%*_+`'~-]+$/;

export const isToken = (text: string): boolean => TOKEN.test(text);

/** Whether a text could end its line: no control character is ever written into a field. */
export const hasControls = (text: string): boolean => CONTROL.test(text);

/** Throws where a text has one. */
export function refuseControls(what: string, text: string): void {
  if (hasControls(text)) throw new SipSyntaxError(`${what} has a control character.`);
}

/** A quoted-string (section 25.1). */
export const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** What a quoted-string says; any other text is itself. */
export const unquote = (text: string): string =>
  text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text;

/** Splits at a separator that stands in no quoted-string and in no angle brackets; empty parts are left out. */
export function splitOutside(text: string, separator: ',' | ';'): string[] {
  if (!text.includes(separator)) return text.trim() === '' ? [] : [text.trim()];
  const parts = /["<]/.test(text) ? splitQuoted(text, separator) : text.split(separator);
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function splitQuoted(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let quoted = false;
  let bracketed = false;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quoted && char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (char === '<') bracketed = true;
    else if (char === '>') bracketed = false;
    else if (char === separator && !bracketed) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Reads `;name=value;flag`. Of a name that stands twice the first counts. */
export function parseParameters(text: string): Parameters {
  const parameters: Parameters = new Map();
  if (text === '') return parameters;
  for (const part of splitOutside(text, ';')) {
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
    if (!isToken(name)) throw new SipSyntaxError(`A parameter has no name: ${part.slice(0, 40)}`);
    if (!parameters.has(name)) parameters.set(name, equals < 0 ? '' : unquote(part.slice(equals + 1).trim()));
  }
  return parameters;
}

/** Writes `;name=value;flag`. Values that are neither token nor address are quoted. */
export function writeParameters(parameters: Parameters): string {
  let text = '';
  for (const [name, value] of parameters) {
    if (value === '') text += `;${name}`;
    else text += `;${name}=${/^[A-Za-z0-9.!%*_+`'~:[\]-]+$/.test(value) ? value : quote(value)}`;
  }
  return text;
}
