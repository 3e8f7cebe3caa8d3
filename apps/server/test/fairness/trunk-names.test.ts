import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { grantTrunks } from '../../src/commands/trunk-grants.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { startCarrier } from '../lines/telephony/carrier.ts';
import { keyWith } from '../platform/api-keys/keys.ts';
import { seedTrunk } from '../seed/trunk.ts';
import { seedWorkspace } from '../seed/workspace.ts';
import { startTestServer } from '../server.ts';
import { until } from '../until.ts';
import { startNameServer } from './name-server.ts';

/** What trunks name is their workspaces'. */
const grantAll = (database: Database) =>
  database.inEngine(({ db }) =>
    sql`
      insert into trunk_grants (workspace_id, address, created_at)
      select workspace_id, split_part(termination_url, ':', 1), now() from trunks`.execute(db),
  );

test('names of trunks whose name servers are dead have a share, and stop no trunk of another workspace', async () => {
  const dns = await startNameServer({ 'carrier.example': '127.0.0.1', carrier: '127.0.0.1' });
  const carrier = await startCarrier({});
  const server = await startTestServer({
    config: {
      sipHost: '127.0.0.1',
      sipPort: 0,
      sipAllowedAddresses: { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] },
    },
    nameServers: [dns.address],
  });
  const slots = async (what: string) => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    const [, value] = new RegExp(`^trunkline_slots_${what}{resource="trunk_name_lookups"} (\\d+)$`, 'm').exec(text)!;
    return Number(value);
  };
  for (const noisy of ['a', 'b']) {
    const workspaceId = await seedWorkspace(server.database);
    for (let at = 0; at < 75; at += 1)
      for (const host of [`dead-${noisy}${at}.example`, `dead-${noisy}${at}`])
        await seedTrunk(server.database, workspaceId, { termination_url: `${host}:5060` });
  }
  await until(async () => expect(await slots('waiting')).toBeGreaterThan(300));
  // More than one workspace alone may have, and yet some are left.
  await until(async () => expect(await slots('under_way')).toBeGreaterThan(64));
  expect(await slots('under_way')).toBeLessThan(128);

  const quiet = server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Quiet' }));
  await grantAll(server.database);
  for (const host of ['carrier.example', 'carrier']) {
    await grantTrunks(server.database, { workspace: 'Quiet', address: host, byName: true }, new Date(), async () => []);
    const body = { terminationUrl: `${host}:${carrier.port}` };
    const { data: trunk } = await quiet.POST('/v1/telephony/trunks', { body });
    const params = { path: { trunkId: trunk!.id } };
    const { data } = await quiet.GET('/v1/telephony/trunks/{trunkId}/validate', { params });
    expect(data).toMatchObject({ valid: true, reachable: true });
  }
  expect(dns.asked).toContain('A carrier');
  await server.stop();
  await carrier.stop();
  await dns.stop();
});
