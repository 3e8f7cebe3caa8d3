import { type HostGuard, urlFault } from '../../foundation/outbound-http/url-fault.ts';
import type { ErrorDetail } from '../../foundation/values/service-error.ts';

/** Why a body's `inboundWebhookUrl` can't be asked, where it has one. */
export function inboundUrlFaults(guard: HostGuard, url: string | null | undefined): ErrorDetail[] {
  const message = url ? urlFault(guard, url) : undefined;
  return message ? [{ path: '/body/inboundWebhookUrl', message }] : [];
}
