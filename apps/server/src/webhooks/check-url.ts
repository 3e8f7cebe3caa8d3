import { ServiceError } from '../service-error.ts';
import type { WebhookDeps } from './deps.ts';

type Guard = Pick<WebhookDeps['guard'], 'isOpenHost' | 'isAllowedHost'>;

/** Throws `invalid_request` where events can't be sent to a URL: plain http or an address that the settings don't allow. */
export function checkUrl(guard: Guard, text: string): void {
  const message = faultOf(guard, URL.parse(text));
  if (message)
    throw new ServiceError('invalid_request', `url ${message}.`, { details: [{ path: '/body/url', message }] });
}

function faultOf(guard: Guard, url: URL | null): string | undefined {
  if (!url) return 'must be a URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user name and no password';
  if (!guard.isOpenHost(url.hostname)) return 'must not lead into the network of the server';
  if (url.protocol !== 'https:' && !guard.isAllowedHost(url.hostname)) return 'must be an https URL';
  return undefined;
}
