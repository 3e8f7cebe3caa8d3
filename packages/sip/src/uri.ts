import { type Parameters, SipSyntaxError } from './syntax.ts';

/** A SIP, SIPS or tel URI (RFC 3261 section 19.1, RFC 3966). */
export interface SipUri {
  scheme: 'sip' | 'sips' | 'tel';
  /** As it stands there, with its escapes. Of a tel URI the number. */
  user?: string;
  /** A name, an IPv4 address, or an IPv6 address in brackets. Empty in a tel URI. */
  host: string;
  port?: number;
  parameters: Parameters;
  /** What follows `?`. */
  headers?: string;
}

const SIP =
  /^(sips?):(?:([^@\s<>"]*)@)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?((?:;[^?\s<>"]*)?)(?:\?([^\s<>"]*))?$/i;
const TEL = /^tel:([+0-9*#a-f().-]+)((?:;[^?\s<>"]*)?)$/i;
const USER = /^(?:[A-Za-z0-9\-_.!~*'()&=+$,;?/:#]|%[0-9A-Fa-f]{2})*$/;

/** Throws a `SipSyntaxError` where the text is none of these. */
export function parseUri(text: string): SipUri {
  const sip = SIP.exec(text);
  if (!sip) {
    const tel = TEL.exec(text);
    if (!tel) throw new SipSyntaxError(`This is no SIP URI: ${text.slice(0, 80)}`);
    return { scheme: 'tel', user: tel[1]!, host: '', parameters: uriParameters(tel[2]!) };
  }
  const [, scheme, user, host, port, parameters, headers] = sip;
  if (user !== undefined && !USER.test(user))
    throw new SipSyntaxError(`The user part of a URI has a wrong character: ${user.slice(0, 40)}`);
  if (port !== undefined && (Number(port) === 0 || Number(port) > 65_535))
    throw new SipSyntaxError(`This is no port: ${port}`);
  const uri: SipUri = {
    scheme: scheme!.toLowerCase() as 'sip' | 'sips',
    host: host!.toLowerCase(),
    parameters: uriParameters(parameters!),
  };
  if (user !== undefined && user !== '') uri.user = user;
  if (port !== undefined) uri.port = Number(port);
  if (headers !== undefined) uri.headers = headers;
  return uri;
}

/** A URI's parameters are not quoted (section 25.1, uri-parameters). */
function uriParameters(text: string): Parameters {
  const parameters: Parameters = new Map();
  if (text === '') return parameters;
  for (const part of text.split(';')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).toLowerCase();
    if (!parameters.has(name)) parameters.set(name, equals < 0 ? '' : part.slice(equals + 1));
  }
  return parameters;
}

export function writeUri(uri: SipUri): string {
  const parameters = [...uri.parameters]
    .map(([name, value]) => (value === '' ? `;${name}` : `;${name}=${value}`))
    .join('');
  if (uri.scheme === 'tel') return `tel:${uri.user}${parameters}`;
  const user = uri.user === undefined ? '' : `${uri.user}@`;
  const port = uri.port === undefined ? '' : `:${uri.port}`;
  const headers = uri.headers === undefined ? '' : `?${uri.headers}`;
  return `${uri.scheme}:${user}${uri.host}${port}${parameters}${headers}`;
}

/** A user part of any text, escaped where it must be. */
export const escapeUser = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-_.!~*'()&=+$,/]/g, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );

/** A host as it stands in a URI: IPv6 addresses in brackets. */
export const writeHost = (address: string): string =>
  address.includes(':') && !address.startsWith('[') ? `[${address}]` : address;

/** A URI's host as sockets take it: IPv6 addresses without their brackets. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '');
