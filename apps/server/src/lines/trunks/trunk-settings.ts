import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import { compareVersions } from '../../foundation/database/versions.ts';
import type { HostGuard } from '../../foundation/outbound-http/url-fault.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import type { ErrorDetail } from '../../foundation/values/service-error.ts';
import type { TrunkColumns } from './store.ts';
import { passwordPlace, type TrunkRow } from './trunk.ts';
import { addressFaults, allowlistFaults, encryptionFaults, textFaults } from './trunk-faults.ts';

type Body = components['schemas']['UpdateTrunk'];
type Place = Pick<TrunkRow, 'workspace_id' | 'id'>;

/** The columns of a body's fields that are kept as they are sent. */
const columns = {
  terminationUrl: 'termination_url',
  transport: 'transport',
  outboundProxy: 'outbound_proxy',
  username: 'username',
  authUsername: 'auth_username',
  fromUser: 'from_user',
  fromDomain: 'from_domain',
  register: 'register',
  registerExpiresSeconds: 'register_expires_seconds',
  inboundDigest: 'inbound_digest',
  probe: 'probe',
  maxChannels: 'max_channels',
  callsPerSecond: 'calls_per_second',
  numberFormat: 'number_format',
  country: 'country',
  dialPrefix: 'dial_prefix',
  callerIdHeader: 'caller_id_header',
  codecs: 'codecs',
  dtmf: 'dtmf',
  mediaEncryption: 'media_encryption',
  keysInClear: 'keys_in_clear',
} as const satisfies Partial<Record<keyof Body, keyof TrunkColumns>>;

/** What a body changes of a trunk. A password goes with its username. */
export function trunkColumns(body: Body, place: Place, secrets: Secrets): TrunkColumns {
  const named = Object.entries(columns).flatMap(([field, column]) => {
    const value = body[field as keyof typeof columns];
    return value === undefined ? [] : [[column, value]];
  });
  const { username, password, ipAllowlist, headers, headersToAgent } = body;
  const sealed = password ? secrets.encrypt(password, passwordPlace(place)) : null;
  return {
    ...Object.fromEntries(named),
    ...((password !== undefined || username === null) && { password: sealed, password_of: null }),
    ...(username === null && { auth_username: null }),
    ...(ipAllowlist !== undefined && { ip_allowlist: ipAllowlist ?? [] }),
    ...(headersToAgent !== undefined && { headers_to_agent: headersToAgent ?? [] }),
    ...(headers !== undefined && { headers: JSON.stringify(headers ?? {}) }),
  };
}

/** The first servers that encrypt sound: those before them would call in clear. */
const ENCRYPTS_SINCE = '0.3.0';

/**
 * The faults of a body that wants sound encrypted while servers run that can't. A server that was killed counts until its
 * lease is over.
 */
export async function olderServerFaults({ mediaEncryption = 'none' }: Body, { db }: Tx): Promise<ErrorDetail[]> {
  if (mediaEncryption === 'none') return [];
  const { rows } = await sql<{ version: string | null }>`
    select version from servers where lease_until > clock_timestamp()`.execute(db);
  const older = rows.find(({ version }) => version === null || compareVersions(version, ENCRYPTS_SINCE) < 0);
  if (!older) return [];
  const runs = `a server of ${older.version ?? 'before 0.2.0'} runs, which would call in clear`;
  const message = `must be none while ${runs}: upgrade it to ${ENCRYPTS_SINCE} first`;
  return [{ path: '/body/mediaEncryption', message }];
}

/** What a trunk would be, as far as it can be wrong. */
type Judged = Partial<Omit<TrunkRow, 'headers'>> & Pick<TrunkRow, 'termination_url'> & { headers?: unknown };

/** The faults that a trunk would have, each at the field of the body under `path` that it concerns. */
export function trunkFaults(row: Judged, guard: HostGuard, path = '/body'): ErrorDetail[] {
  const {
    username,
    password,
    auth_username,
    country,
    register,
    inbound_digest,
    number_format: format,
    transport,
  } = row;
  const at = (field: string, message: string) => ({ path: `${path}/${field}`, message });
  return [
    ...addressFaults(row.termination_url, `${path}/terminationUrl`, guard, transport),
    ...(row.outbound_proxy ? addressFaults(row.outbound_proxy, `${path}/outboundProxy`, guard, transport) : []),
    ...allowlistFaults(row.ip_allowlist ?? [], `${path}/ipAllowlist`),
    ...textFaults(username, `${path}/username`),
    ...textFaults(auth_username, `${path}/authUsername`),
    ...(password && !username ? [at('password', 'needs a username')] : []),
    ...(auth_username && !username ? [at('authUsername', 'needs a username')] : []),
    ...(register && !username ? [at('register', 'needs a username')] : []),
    ...(inbound_digest && !(username && password) ? [at('inboundDigest', 'needs a username and a password')] : []),
    ...encryptionFaults(row, `${path}/mediaEncryption`),
    ...((format === 'national' || format === 'international_prefix') && !country
      ? [at('country', `must be given where numberFormat is ${format}`)]
      : []),
  ];
}
