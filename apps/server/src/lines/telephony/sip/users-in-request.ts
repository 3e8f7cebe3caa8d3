import { parseNameAddr, parseUri, type SipRequest } from '@trunkline/sip';

/** Where the number that is called may stand: the Request-URI, else To, P-Called-Party-ID, Diversion. */
export function calledUsers(request: SipRequest): string[] {
  const headers = ['p-called-party-id', 'diversion'].flatMap((name) => request.headers.all(name));
  return [...askedUsers(request), ...headers.map(userOfHeader).filter((user) => user !== undefined)];
}

/** Where a stranger may name it. */
export const askedUsers = (request: SipRequest): string[] =>
  [...new Set([userOf(request.uri), userOfHeader(request.headers.get('to') ?? '')])].filter(
    (user) => user !== undefined,
  );

/** A caller that withholds the number says so by the host of From, or by Privacy (RFC 3323, RFC 3325). */
export function callerUser(request: SipRequest): string | undefined {
  const from = request.headers.get('from') ?? '';
  if (/anonymous/i.test(from) || request.headers.tokens('privacy').includes('id')) return undefined;
  const asserted = request.headers.get('p-asserted-identity');
  return (asserted !== undefined && userOfHeader(asserted)) || userOfHeader(from);
}

/** The user part of the URI in a header such as From. */
export const userOfHeader = (value: string): string | undefined => {
  try {
    return userOf(parseNameAddr(value).uri);
  } catch {
    return undefined;
  }
};

function userOf(uri: string): string | undefined {
  try {
    return decodeURIComponent(parseUri(uri).user ?? '') || undefined;
  } catch {
    return undefined;
  }
}
