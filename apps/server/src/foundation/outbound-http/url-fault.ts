import type { AddressGuard } from './address-guard.ts';

/** What of a guard a URL is judged by before anything is sent there. */
export type HostGuard = Pick<AddressGuard, 'isOpenHost' | 'isAllowedHost'>;

const UNLESS_ALLOWED = 'unless OUTBOUND_ALLOWED_ADDRESSES names it';

/**
 * Why nothing can be sent to a URL, such as plain http or an address that the settings don't allow.
 * @param secure the scheme that any address may have; the plain one is for hosts that the settings name
 */
export function urlFault(guard: HostGuard, text: string, secure: 'https:' | 'wss:' = 'https:'): string | undefined {
  const url = URL.parse(text);
  if (!url) return 'must be a URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user name and no password';
  if (!guard.isOpenHost(url.hostname))
    return /localhost\.?$/i.test(url.hostname)
      ? `must not lead to the server itself, as localhost does, ${UNLESS_ALLOWED}`
      : `must not lead into the network of the server, ${UNLESS_ALLOWED}`;
  if (url.protocol !== secure && !guard.isAllowedHost(url.hostname))
    return `must be ${secure === 'wss:' ? 'a wss' : 'an https'} URL, ${UNLESS_ALLOWED}`;
  return undefined;
}
