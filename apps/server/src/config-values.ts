import { isIP } from 'node:net';
import { isSupportedCountry } from 'libphonenumber-js/max';
import { fromId } from './foundation/values/ids.ts';
import { faultOfHosts, hostsOf } from './foundation/values/postgres-hosts.ts';

// How the text of a variable becomes a value. Each throws an error that says what would be right.

/** A whole number between two bounds, both included. */
export const integer = (minimum: number, maximum: number) => (value: string) => {
  if (!/^\d+$/.test(value) || Number(value) < minimum || Number(value) > maximum)
    throw new Error(`must be a whole number from ${minimum} to ${maximum}`);
  return Number(value);
};

/** A number between two bounds, both included. */
export const number = (minimum: number, maximum: number) => (value: string) => {
  if (!/^\d+(\.\d+)?$/.test(value) || Number(value) < minimum || Number(value) > maximum)
    throw new Error(`must be a number from ${minimum} to ${maximum}`);
  return Number(value);
};

export const oneOf =
  <const T extends string>(...allowed: T[]) =>
  (value: string): T => {
    const found = allowed.find((each) => each === value);
    if (!found) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };

export const text = (value: string) => value;

/** A key that is sent in a header. `fetch` would show one that can stand in none in its error. */
export const headerKey = (value: string) => {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must be of visible ASCII characters, without spaces');
  return value;
};

/** A key that is typed or made by whoever runs the server: so long that nobody guesses it. */
export const longKey = (value: string) => {
  if (!/^[\x21-\x7e]{32,256}$/.test(value))
    throw new Error('must be 32 to 256 visible ASCII characters without spaces, made by chance');
  return value;
};

export const flag = (value: string) => oneOf('true', 'false')(value) === 'true';

/** A URL of HTTP, without a slash at its end. `fetch` takes none with a password, and would show it in its error. */
export const url = (value: string) => {
  const given = /^https?:\/\//.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (!given || given.username || given.password)
    throw new Error('must be a URL such as https://host.example.com, without a user name and a password');
  return value.replace(/\/+$/, '');
};

/** The issuer of an identity provider, to the letter: over https, or on this machine. */
export const issuer = (value: string) => {
  const isPlain = /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$)/.test(value);
  url(value);
  if (!isPlain && !value.startsWith('https://'))
    throw new Error('must be a URL of https, such as https://login.example.com');
  return value;
};

/** A URL of WebSockets. */
export const socketUrl = (value: string) => {
  const given = /^wss?:\/\//.test(value) && URL.canParse(value) ? new URL(value) : undefined;
  if (!given || given.username || given.password)
    throw new Error('must be a URL such as wss://host.example.com, without a user name and a password');
  return value;
};

/** A PostgreSQL URL. What is wrong with it is not shown: it may hold a password. */
export const postgresUrl = (value: string) => {
  const fault = faultOfHosts(value);
  if (fault)
    throw new Error(`must name each host once, as postgres://role:password@host1,host2:5433/database does: ${fault}`);
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(hostsOf(value)[0]!))
    throw new Error('must be a PostgreSQL URL, such as postgres://role:password@host/database');
  return value;
};

/** 32 bytes, as 64 hex digits or in base64. */
export const secret32 = (value: string) => {
  const bytes = Buffer.from(value, /^[0-9a-f]{64}$/i.test(value) ? 'hex' : 'base64');
  if (bytes.length !== 32) throw new Error('must be 32 bytes in base64 or hex');
  return bytes;
};

/** ISO 3166-1 countries that have phone numbers, as `US, DE`, separated by commas. */
export const countries = (value: string): string[] =>
  value.split(',').map((each) => {
    const country = each.trim();
    if (!isSupportedCountry(country))
      throw new Error(
        'must be countries of ISO 3166-1 with phone numbers of their own, such as US or GB, separated by commas',
      );
    return country;
  });

/** Origins as browsers send them, `https://app.example.com` or with a port, separated by commas. */
export const origins = (value: string): string[] =>
  value.split(',').map((each) => {
    const origin = each.trim();
    if (!/^https?:\/\//.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new Error('must be origins such as https://app.example.com, separated by commas: no path, and no *');
    return origin;
  });

/** What an API key looks like; anything else is not looked up. */
export const KEY_PATTERN = /^tl_[a-z]{1,10}_[0-9A-Za-z]{20,64}$/;

/** A key with fewer different letters was typed, not made. */
const LEAST_DIFFERENT = 8;

export const apiKey = (value: string) => {
  if (!KEY_PATTERN.test(value))
    throw new Error('must be `tl_`, 1 to 10 small letters, `_`, and 20 to 64 letters and digits, such as tl_dev_…');
  if (new Set(value.split('_')[2]).size < LEAST_DIFFERENT)
    throw new Error('must be a key that nobody guesses: make its letters and digits by chance');
  return value;
};

/** Networks and names that are open although they lie in the server's own network. */
export interface AllowedAddresses {
  networks: { address: string; prefix: number }[];
  /** In lower case. */
  hosts: string[];
}

/** Addresses, networks as `10.0.0.0/8`, and host names, separated by commas. */
export const addresses = (value: string): AllowedAddresses => {
  const allowed: AllowedAddresses = { networks: [], hosts: [] };
  for (const entry of value.split(',').map((each) => each.trim().toLowerCase())) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)]!;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
    if (bits > 0 && isPrefix && rest.length === 0) allowed.networks.push({ address, prefix: Number(prefix ?? bits) });
    else if (/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(entry) && !/^[\d.]+$/.test(entry)) allowed.hosts.push(entry);
    else throw new Error('must be addresses, networks such as 10.0.0.0/8, and host names, separated by commas');
  }
  return allowed;
};

/** An IP address. */
export const address = (value: string) => {
  if (isIP(value) === 0) throw new Error('must be an IP address');
  return value;
};

/** An address of SIP that is a workspace's own. */
export interface WorkspaceAddress {
  /** UUID. */
  workspaceId: string;
  /** An IP address of this machine. */
  host: string;
  port?: number;
}

/** `ws_…=192.0.2.10` or with a port, separated by commas; an IPv6 address with a port stands in brackets. */
export const workspaceAddresses = (value: string): WorkspaceAddress[] => {
  const entries = value.split(',').map((entry): WorkspaceAddress => {
    const [, id, given = ''] = /^\s*(ws_[0-9a-f]{32})=(\S+)\s*$/.exec(entry) ?? [];
    const [, v6, v4 = given, digits] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(given) ?? [];
    const host = v6 ?? v4;
    const port = digits === undefined ? undefined : Number(digits);
    if (id === undefined || isIP(host) === 0 || (port !== undefined && port > 65_535))
      throw new Error(
        'must be workspaces with addresses of this machine, such as ws_…=192.0.2.10:5070, separated by commas',
      );
    return { workspaceId: fromId(id), host, ...(port !== undefined && { port }) };
  });
  if (new Set(entries.map(({ workspaceId }) => workspaceId)).size < entries.length)
    throw new Error('must name each workspace once');
  return entries;
};

/** Networks in CIDR form, by commas. */
export const networks = (value: string): string[] => {
  const entries = value.split(',').flatMap((entry) => entry.trim() || []);
  for (const entry of entries) {
    const [host = '', prefix, more] = entry.split('/');
    const longest = isIP(host) === 6 ? 128 : 32;
    if (
      isIP(host) === 0 ||
      more !== undefined ||
      !(prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= longest))
    )
      throw new Error('must be addresses or networks such as 10.0.0.0/8, by commas');
  }
  return entries;
};

/** `name=value`, separated by commas; values as in URLs. What is wrong is not shown: it may hold a key. */
export const pairs = (value: string): Record<string, string> =>
  Object.fromEntries(
    value.split(',').map((entry) => {
      const [, name, text] = /^\s*([\w-]+)=(.*?)\s*$/.exec(entry) ?? [];
      if (name === undefined || text === undefined) throw new Error('must be name=value, separated by commas');
      return [name, decodeURIComponent(text)];
    }),
  );
