import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../values/service-error.ts';
import type { Site } from './handler.ts';

/** The cookies by which browsers are known, and the pages that may send them. */
export interface Cookies {
  /** The secret of the session whose cookie a request bears. */
  secretIn(request: IncomingMessage): string | undefined;
  /**
   * Throws `forbidden` where a request that bears a cookie comes from a page of another origin: browsers send it along
   * whoever asks. What changes something must name this server's own; a stream must be told to be of it.
   */
  refuseForeign(request: IncomingMessage, isStream: boolean): void;
  /** Where a browser asks for a cookie. Throws `forbidden` where it is to get none. */
  siteOf(request: IncomingMessage): Site;
}

/** Names of this machine, which browsers trust over plain HTTP too. */
const LOCALHOST = /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;
const SECRET = /^[\w-]{43}$/;
/** So much of a foreign origin is repeated to who sent it. */
const SHOWN = 200;

/**
 * Where the server is reached over https, its cookie is bound to that host, and its origin is that of `publicUrl`. Else only
 * browsers on this machine get one.
 */
export function createCookies(publicUrl: string): Cookies {
  const { protocol, origin: ownOrigin, host: ownHost } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  const name = isSecure ? '__Host-trunkline' : 'trunkline';
  // Other whitespace is part of a name: of one without the prefix, which a sibling of the domain may set.
  const pair = new RegExp(`(?:^|;)[ \\t]*${name}=([^; \\t]*)`);
  const originOf = ({ headers: { host = '' } }: IncomingMessage) => {
    if (isSecure) return ownOrigin;
    return LOCALHOST.test(host.toLowerCase()) ? `http://${host.toLowerCase()}` : undefined;
  };
  const cookie = (value: string, seconds: number) =>
    `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`;
  const heldIn = ({ headers }: IncomingMessage) => pair.exec(headers.cookie ?? '')?.[1];
  return {
    secretIn(request) {
      if (originOf(request) === undefined) return undefined;
      const held = heldIn(request);
      return held !== undefined && SECRET.test(held) ? held : undefined;
    },

    refuseForeign(request, isStream) {
      const { origin, 'sec-fetch-site': site } = request.headers;
      const own = originOf(request);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (origin !== undefined) {
        if (origin !== own) throw foreign(own, origin);
      } else if (!isRead || (isStream && site !== 'same-origin')) throw withoutOrigin(own);
      else if (site === 'cross-site' || site === 'same-site') throw foreign(own, 'another site');
    },

    siteOf(request) {
      const { origin, host } = request.headers;
      const own = originOf(request);
      // What names no page is no browser, and says by `Host` whom it has reached.
      if (own === undefined || (origin === undefined && isSecure && host?.toLowerCase() !== ownHost))
        throw isSecure ? elsewhere(ownOrigin) : plainHttp();
      if (origin === `http://${ownHost}` && isSecure) throw elsewhere(ownOrigin);
      if (origin !== undefined && origin !== own) throw foreign(own, origin);
      return { origin: own, held: origin === undefined ? undefined : heldIn(request), cookie };
    },
  };
}

const foreign = (own: string | undefined, origin: string) =>
  new ServiceError(
    'forbidden',
    `With a cookie only pages of ${own} may do this, and this is one of ${origin.slice(0, SHOWN)}.`,
  );

const withoutOrigin = (own: string | undefined) =>
  new ServiceError(
    'forbidden',
    `With a cookie only pages of ${own} may do this, and nothing says that this is one. A program sends an API key instead.`,
  );

const plainHttp = () =>
  new ServiceError(
    'forbidden',
    'Signing in needs https: over plain HTTP others could take the cookie. Put a proxy with TLS in front, and set PUBLIC_URL to its https address; or use http://localhost.',
  );

const elsewhere = (own: string) =>
  new ServiceError(
    'forbidden',
    `Signing in needs https: over plain HTTP others could take the cookie. This server is reached at ${own}.`,
  );
