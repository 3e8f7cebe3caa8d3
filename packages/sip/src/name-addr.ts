import { type Parameters, parseParameters, quote, SipSyntaxError, unquote, writeParameters } from './syntax.ts';

/** A name-addr or addr-spec with its parameters: From, To, Contact, Route (RFC 3261 sections 20.10, 25.1). */
export interface NameAddr {
  displayName?: string;
  /** As it stands there; `parseUri` reads it. */
  uri: string;
  parameters: Parameters;
}

/** Throws a `SipSyntaxError` where there is no address. */
export function parseNameAddr(text: string): NameAddr {
  const open = openingBracket(text);
  if (open < 0) {
    // Without brackets all parameters are the header's, not the URI's (section 20).
    const semicolon = text.indexOf(';');
    const uri = (semicolon < 0 ? text : text.slice(0, semicolon)).trim();
    if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"]+$/.test(uri))
      throw new SipSyntaxError(`This is no address: ${text.slice(0, 80)}`);
    return { uri, parameters: parseParameters(semicolon < 0 ? '' : text.slice(semicolon + 1)) };
  }
  const close = text.indexOf('>', open);
  const uri = text.slice(open + 1, close).trim();
  if (close < 0 || uri === '' || /[\s<"]/.test(uri))
    throw new SipSyntaxError(`This is no address: ${text.slice(0, 80)}`);
  const rest = text.slice(close + 1).trim();
  if (rest !== '' && !rest.startsWith(';'))
    throw new SipSyntaxError(`Something stands behind an address: ${rest.slice(0, 40)}`);
  const displayName = unquote(text.slice(0, open).trim());
  const read: NameAddr = { uri, parameters: parseParameters(rest.slice(1)) };
  if (displayName !== '') read.displayName = displayName;
  return read;
}

/** Where `<` stands outside of a quoted display name, or -1. */
function openingBracket(text: string): number {
  if (!text.trimStart().startsWith('"')) return text.indexOf('<');
  let at = text.indexOf('"') + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return text.indexOf('<', at);
}

export function writeNameAddr({ displayName, uri, parameters }: NameAddr): string {
  const name = displayName === undefined ? '' : `${quote(displayName)} `;
  return `${name}<${uri}>${writeParameters(parameters)}`;
}
