import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { up } from '../../../migrations/0099-trunk-grants.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { hostOf } from '../../../src/lines/trunks/trunk-grants.ts';
import { freshDatabase } from '../../database.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedWorkspace } from '../../seed/workspace.ts';

test('what trunks named before is granted to their workspaces, and by name if there are several', async () => {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 2, log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await database.close();
    await fresh.drop();
  });
  const [first, second] = [await seedWorkspace(database), await seedWorkspace(database)];
  const uris = ['sip:Foo.Example:5060', 'sips:[2001:DB8::1]:5061;transport=tls', '10.0.0.1', 'bar.example.', 'SIP:x.y'];
  for (const termination_url of uris)
    await seedTrunk(database, first, { termination_url, ip_allowlist: ['10.1.0.0/16'] });
  await seedTrunk(database, second, { termination_url: 'foo.example', outbound_proxy: 'p.example:5099' });
  await database.inEngine(async ({ db }) => {
    await sql`drop table trunk_grant_addresses, trunk_grants`.execute(db);
    await sql`alter table installation drop column trunks_granted_since`.execute(db);
    await up(db as never);
  });
  const granted = await database.inEngine(async ({ db }) => {
    const rows = await db.selectFrom('trunk_grants').selectAll().execute();
    return (workspaceId: string) =>
      rows
        .filter((row) => row.workspace_id === workspaceId)
        .map(({ address, by_name }) => (by_name ? `${address} by name` : address))
        .sort();
  });
  expect(granted(second)).toEqual(['foo.example by name', 'p.example by name']);
  const named = [...uris.map(hostOf), '10.1.0.0/16'].map((address) => `${address} by name`);
  expect(granted(first)).toEqual(named.sort());
  const { rows } = await database.inEngine(({ db }) =>
    sql`select from installation where trunks_granted_since is not null`.execute(db),
  );
  expect(rows).toHaveLength(1);
});
