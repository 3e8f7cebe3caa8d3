import type { HostGuard } from '../outbound-http/url-fault.ts';

/** Why no agent can be reached at a URL; follows the name of the field. */
export function agentUrlFault(guard: HostGuard, text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^wss?:$/.test(url.protocol)) return 'must be a wss:// URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user name and no password';
  if (!guard.isOpenHost(url.hostname)) return 'must not lead into the network of the server';
  if (url.protocol === 'ws:' && !guard.isAllowedHost(url.hostname))
    return 'must be a wss:// URL; ws:// leads only to addresses that the settings allow';
  return undefined;
}
