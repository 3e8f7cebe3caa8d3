import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Config } from '../../config.ts';

import { withDeadline } from '../../foundation/values/deadline.ts';
import { hostsOf } from '../../foundation/values/postgres-hosts.ts';
import { type Finding, mend, ok, whyOf } from './finding.ts';

const LOOKUP_MS = 5000;

/** Asks for the names that the settings hold. Those of trunks and agents are asked for with these. */
export async function checkNames(config: Config): Promise<Finding[]> {
  const named = [
    ['PUBLIC_URL', config.publicUrl],
    ...hostsOf(config.databaseUrl ?? '').map((url) => ['DATABASE_URL', url || undefined] as const),
    ['S3_ENDPOINT', config.s3Endpoint],
    ['AGENTS_URL', config.agentsUrl],
    ['OIDC_ISSUER', config.oidcIssuer],
  ].flatMap(([setting, url]) => {
    const host = hostOf(url);
    return setting === undefined || host === undefined ? [] : [[setting, host] as const];
  });
  if (named.length === 0) return [];
  const findings = await Promise.all(named.map(([setting, host]) => check(setting, host)));
  const wrong = findings.filter(({ state }) => state === 'mend');
  return wrong.length > 0 ? wrong : [ok('dns', `${named.map(([, host]) => host).join(', ')} have addresses.`)];
}

/** The name in a URL; none where it holds an address, or a socket's folder. */
function hostOf(url: string | undefined): string | undefined {
  const host = url === undefined ? '' : decodeURIComponent(new URL(url).hostname).replace(/^\[|\]$/g, '');
  return host === '' || host.startsWith('/') || isIP(host) !== 0 ? undefined : host;
}

async function check(setting: string, host: string): Promise<Finding> {
  try {
    const { address } = await withDeadline(LOOKUP_MS, () => lookup(host));
    return ok('dns', `${host} is ${address}.`);
  } catch (error) {
    const advice = 'Look how it is written, and at the resolver of this machine (/etc/resolv.conf).';
    return mend('dns', `The name ${host} of ${setting} has no address (${whyOf(error)}). ${advice}`);
  }
}
