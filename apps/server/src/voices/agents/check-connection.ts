import { GIVE_AGAIN, isSameOrigin } from '../../foundation/outbound-http/same-origin.ts';
import { type HostGuard, urlFault } from '../../foundation/outbound-http/url-fault.ts';
import { type ErrorDetail, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { AgentRow } from './agent.ts';

/** Headers that the handshake, or the server, writes itself. */
const ours = /^(host|connection|upgrade|content-length|transfer-encoding|te|trailer|sec-websocket-.*|x-trunkline-.*)$/i;

/**
 * Throws `invalid_request` for an address that the settings don't allow, and for headers that can't be set.
 * @param connection the body's `connection`
 */
export function checkConnection(
  guard: HostGuard,
  { url, headers = {} }: { url?: string | undefined; headers?: Record<string, string> | undefined },
): void {
  const fault = url === undefined ? undefined : urlFault(guard, url, 'wss:');
  const faults: ErrorDetail[] = fault === undefined ? [] : [{ path: '/body/connection/url', message: fault }];
  const seen = new Set<string>();
  for (const name of Object.keys(headers)) {
    const path = `/body/connection/headers/${name.replaceAll('~', '~0')}`;
    if (ours.test(name)) faults.push({ path, message: 'is written by the server itself: leave it out' });
    else if (seen.has(name.toLowerCase())) faults.push({ path, message: 'is there twice, in another case' });
    seen.add(name.toLowerCase());
  }
  const [first] = faults;
  if (!first) return;
  const place = first.path.slice('/body/'.length).replaceAll('/', '.');
  throw new ServiceError('invalid_request', `${place} ${first.message}.`, { details: faults });
}

/**
 * Throws `invalid_request` if a change of the URL would take the headers or the secret to another origin.
 * @param change the body's `connection`
 */
export function checkMove(
  before: AgentRow,
  { url, headers, secret }: { url?: string; headers?: Record<string, string>; secret?: string },
): void {
  if (url === undefined || isSameOrigin(url, before.connection_url!)) return;
  const faults: ErrorDetail[] = [];
  if (headers === undefined && before.header_names.length > 0)
    faults.push({ path: '/body/connection/headers', message: GIVE_AGAIN });
  if (secret === undefined) faults.push({ path: '/body/connection/secret', message: GIVE_AGAIN });
  refuse(faults);
}
