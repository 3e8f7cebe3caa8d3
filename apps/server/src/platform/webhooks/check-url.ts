import { type HostGuard, urlFault } from '../../foundation/outbound-http/url-fault.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';

/** Throws `invalid_request` where events can't be sent to a URL: plain http or an address that the settings don't allow. */
export function checkUrl(guard: HostGuard, text: string): void {
  const message = urlFault(guard, text);
  if (message)
    throw new ServiceError('invalid_request', `url ${message}.`, { details: [{ path: '/body/url', message }] });
}
