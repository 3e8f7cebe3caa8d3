import { GIVE_AGAIN, isSameOrigin } from '../../foundation/outbound-http/same-origin.ts';
import { type HostGuard, urlFault } from '../../foundation/outbound-http/url-fault.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { type ErrorDetail, refuse, ServiceError } from '../../foundation/values/service-error.ts';
import { isAsked } from '../../lines/media/agent-place.ts';
import type { AgentRow } from './agent-row.ts';
import { personaFields } from './realtime.ts';

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
  const fault = url === undefined ? undefined : urlFault(guard, url, isAsked(url) ? 'https:' : 'wss:');
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
 * Throws `invalid_request` if a change of the URL would take what is secret to another origin.
 * @param change the body's `connection`
 */
export function checkMove(
  before: AgentRow,
  { url, headers, secret, apiKey }: components['schemas']['UpdateAgentConnection'],
): void {
  if (url === undefined || isSameOrigin(url, before.connection_url!)) return;
  const isModel = before.connection_type === 'realtime';
  const given = { apiKey, headers, secret };
  const had = {
    apiKey: before.api_key !== null,
    headers: !isModel && before.header_names.length > 0,
    secret: !isModel,
  };
  const lost = (['apiKey', 'headers', 'secret'] as const).filter((name) => had[name] && given[name] === undefined);
  refuse(lost.map((name) => ({ path: `/body/connection/${name}`, message: GIVE_AGAIN })));
}

const ofStreams = ['headers', 'secret', 'connectAt', 'connectTimeoutSeconds', 'reconnect'] as const;
const ofModels = ['model', 'backendModel', 'apiKey', 'voice', 'language'] as const;
const ofScripts = ['voice', 'language', 'steps'] as const;
const all = ['url', ...ofStreams, ...ofModels, 'steps'] as const;
const ofKind: Record<AgentRow['connection_type'], readonly (typeof all)[number][]> = {
  ...{ stream: ['url', ...ofStreams], realtime: ['url', ...ofModels], script: ofScripts },
};

/** Throws `invalid_request` for fields that agents of this type don't have. */
export function checkKind(
  type: AgentRow['connection_type'],
  body: { [Name in (typeof personaFields)[number]]?: unknown } & Pick<
    components['schemas']['UpdateAgent'],
    'connection'
  >,
): void {
  const { connection = {} } = body;
  const foreign = all.filter((name) => !ofKind[type].includes(name));
  const faults = foreign.filter((name) => connection[name] !== undefined).map((name) => `connection/${name}`);
  if (type !== 'realtime') faults.push(...personaFields.filter((name) => body[name] !== undefined));
  refuse(faults.map((name) => ({ path: `/body/${name}`, message: `is not for an agent with a ${type} connection` })));
}
