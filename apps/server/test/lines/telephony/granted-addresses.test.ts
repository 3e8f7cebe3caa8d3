import { TransportError } from '@trunkline/sip';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { type Addresses, grantTrunks, revokeTrunks } from '../../../src/commands/trunk-grants.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { createAddressGuard } from '../../../src/foundation/outbound-http/address-guard.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import { grantTargets } from '../../../src/lines/telephony/sip/grant-targets.ts';
import { checkTrunks } from '../../../src/lines/trunks/check-trunk.ts';
import { grantedAddresses } from '../../../src/lines/trunks/granted-addresses.ts';
import { findTrunk, takeDueTrunks } from '../../../src/lines/trunks/store.ts';
import { dropUnnamedGrants } from '../../../src/lines/trunks/trunk-grants.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { freshDatabase } from '../../database.ts';
import { seedTrunk } from '../../seed/trunk.ts';

/** A workspace. */
async function firstWorkspace() {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await database.close();
    await fresh.drop();
  });
  await createKey(database, systemClock, { name: 'Test', permissions: ['*'], workspace: 'A' });
  return database;
}

/** Two workspaces, of which nothing is granted, and what they may reach. */
async function twoWorkspaces() {
  const database = await firstWorkspace();
  await createKey(database, systemClock, { name: 'Test', permissions: ['*'], workspace: 'B' });
  const rows = await database.inEngine(({ db }) => db.selectFrom('workspaces').select(['id', 'name']).execute());
  const idOf = (name: string) => rows.find((row) => row.name === name)!.id;
  let now = 0;
  const granted = grantedAddresses(database, { now: () => now });
  return {
    database,
    grant: (workspace: string, address: string, byName = false, leadsTo: Addresses = async () => []) =>
      grantTrunks(database, { workspace, address, byName }, new Date(), leadsTo),
    revoke: (workspace: string, address: string) => revokeTrunks(database, { workspace, address }, new Date()),
    idOf,
    reach: (workspace: string, host: string | undefined, ...addresses: string[]) => {
      now += 5000;
      return granted(idOf(workspace), host, addresses);
    },
    granted,
    /** Has what calls led to be seen so many days earlier. */
    age: (days: number) =>
      database.inEngine(({ db }) =>
        sql`update trunk_grant_addresses set seen_at = seen_at - make_interval(days => ${days})
          where seen_at is not null`.execute(db),
      ),
  };
}

const IP = '203.0.113.5';

test('an address is the workspace’s whose host led there first', async () => {
  const { grant, revoke, reach } = await twoWorkspaces();
  await grant('A', 'a.example');
  await grant('B', 'b.example');
  // Two hosts of a name may be at one address.
  expect(await reach('A', 'A.example.', IP, IP)).toEqual([IP, IP]);
  expect(await reach('B', 'b.example', IP, '203.0.113.6')).toEqual(['203.0.113.6']);
  expect(await reach('B', 'a.example', IP)).toEqual([]);
  expect(await reach('A', 'a.example', IP, '203.0.113.6', '203.0.113.7')).toEqual([IP, '203.0.113.7']);
  await expect(grant('B', 'c.example', false, async () => [IP])).rejects.toThrow(/A's by its grant of a.example/);
  await expect(grant('B', '203.0.113.0/24')).rejects.toThrow(/A's by its grant of a.example/);
  // Within a call the peer says where it goes on, which may be anywhere but there.
  expect(await reach('B', undefined, IP, '192.0.2.1')).toEqual(['192.0.2.1']);
  expect(await reach('A', undefined, IP)).toEqual([IP]);
  await grant('A', 'a.example');
  expect(await reach('B', 'b.example', IP)).toEqual([]);
  await revoke('A', 'a.example');
  expect(await reach('A', 'a.example', IP)).toEqual([]);
  expect(await reach('B', 'b.example', IP)).toEqual([IP]);
});

test('a network is its workspace’s, whatever leads there', async () => {
  const { grant, reach } = await twoWorkspaces();
  await grant('B', 'b.example');
  await grant('A', '203.0.113.0/24');
  expect(await reach('B', 'b.example', IP)).toEqual([]);
  expect(await reach('A', IP, IP)).toEqual([IP]);
  expect(await reach('A', 'a.example', IP)).toEqual([]);
});

test('where customers are told by name, no name that is one’s own alone takes the address', async () => {
  const { grant, revoke, reach } = await twoWorkspaces();
  await grant('A', 'a.twilio.example', true);
  await grant('B', 'b.twilio.example', true);
  await grant('B', 'b.example');
  expect(await reach('A', 'a.twilio.example', IP)).toEqual([IP]);
  expect(await reach('B', 'b.twilio.example', IP)).toEqual([IP]);
  expect(await reach('B', 'a.twilio.example', IP)).toEqual([]);
  expect(await reach('B', 'b.example', IP)).toEqual([]);
  expect(await reach('A', 'a.twilio.example', IP)).toEqual([IP]);
  await expect(grant('A', 'a.twilio.example')).rejects.toThrow(/Revoke that first/);
  await revoke('A', 'a.twilio.example');
  expect(await reach('B', 'b.twilio.example', IP)).toEqual([IP]);
  await expect(grant('A', IP)).rejects.toThrow(/B's by its grant of b.twilio.example/);
});

test('what is granted alone and what is granted by name never overlap, whichever comes first', async () => {
  const { grant, reach } = await twoWorkspaces();
  await grant('B', '203.0.113.0/25', true);
  await grant('B', '198.51.100.7', true);
  for (const wanted of ['203.0.113.0/24', IP, '198.51.100.0/24'])
    await expect(grant('A', wanted)).rejects.toThrow(/B's by its grant of .* grant it to both with --by-name/);
  await grant('A', '203.0.113.0/24', true);
  // Nor does a name that is one's alone lead there later, and take the address from those that are told by name.
  await grant('B', 'b.twilio.example', true);
  await grant('A', 'a.example');
  expect(await reach('A', 'a.example', '198.51.100.7', '192.0.2.1')).toEqual(['192.0.2.1']);
  expect(await reach('B', 'b.twilio.example', '198.51.100.7')).toEqual(['198.51.100.7']);
});

test('what looks like an address and is none is refused, and a workspace is named by its ID too', async () => {
  const { grant, reach, idOf } = await twoWorkspaces();
  await expect(grant('A', '203.0.113.300')).rejects.toThrow(/--address must be/);
  await expect(grant('C', 'c.example')).rejects.toThrow('There is no workspace C.');
  await grant(toId('ws', idOf('A')), '203.0.113.0/24');
  expect(await reach('A', IP, IP)).toEqual([IP]);
});

test('a name that leads elsewhere all the time takes some addresses, and not all', async () => {
  const { grant, reach } = await twoWorkspaces();
  await grant('A', 'a.example');
  await grant('B', 'b.example');
  for (let at = 0; at < 20; at += 1) {
    const addresses = Array.from({ length: 16 }, (_, i) => `198.51.${at}.${i}`);
    expect(await reach('B', 'b.example', ...addresses)).toEqual(addresses);
  }
  expect(await reach('A', 'a.example', '198.51.0.1', '198.51.19.15')).toEqual(['198.51.19.15']);
});

test('where calls led is given up after 30 days without one, and where the operator’s grant led is not', async () => {
  const { grant, reach, age } = await twoWorkspaces();
  await grant('A', 'a.example', false, async () => ['203.0.113.9']);
  await grant('B', 'b.example');
  await reach('A', 'a.example', IP, '203.0.113.6');
  await age(29);
  expect(await reach('B', 'b.example', IP)).toEqual([]);
  await reach('A', 'a.example', IP);
  await age(2);
  expect(await reach('B', 'b.example', IP, '203.0.113.6')).toEqual(['203.0.113.6']);
  await age(29);
  expect(await reach('B', 'b.example', IP, '203.0.113.9')).toEqual([IP]);
  expect(await reach('A', 'a.example', IP)).toEqual([]);
});

test('an address that the operator grants is no longer its whose calls alone led there', async () => {
  const { grant, reach } = await twoWorkspaces();
  await grant('A', 'a.example');
  await grant('B', 'b.example');
  await reach('B', 'b.example', IP);
  expect(await grant('A', IP)).toMatchObject({ addresses: [IP], taken: ["B's (b.example)"] });
  expect(await reach('B', 'b.example', IP)).toEqual([]);
  expect(await reach('A', 'a.example', IP)).toEqual([IP]);
  expect(await grant('A', IP)).toMatchObject({ taken: [] });
});

test('an IPv4 address is the same one within an IPv6 address, and brackets and a port are not its name', async () => {
  const { grant, granted, idOf } = await twoWorkspaces();
  await grant('A', '64:ff9b::203.0.113.5');
  await expect(grant('B', '[::ffff:cb00:7105]:5060')).rejects.toThrow(/A's by its grant of 203.0.113.5/);
  expect(await grant('B', '[2001:DB8::1]')).toMatchObject({ addresses: ['2001:db8::1'] });
  expect(await grant('B', '64:ff9b::198.51.100.0/120')).toMatchObject({ addresses: ['198.51.100.0/24'] });
  const open = (workspace: string, host: string, address: string) =>
    grantTargets(granted)(idOf(workspace), host, [{ transport: 'udp', address, port: 5060 }]);
  expect(await open('A', '64:ff9b::cb00:7105', '64:ff9b::cb00:7105')).toHaveLength(1);
  expect(await open('B', '198.51.100.7', '64:ff9b::c633:6407')).toHaveLength(1);
  await grant('B', 'b.example');
  expect(await open('B', 'b.example', '64:ff9b::cb00:7105')).toEqual([]);
});

test('a name that leads nowhere is granted, and the operator is told why; one with a port is asked for with it', async () => {
  const { grant, reach } = await twoWorkspaces();
  const nowhere = async () =>
    Promise.reject(new TransportError('dns', 'a.example: the DNS gives no answer (ETIMEOUT).'));
  expect(await grant('A', 'a.example', false, nowhere)).toMatchObject({
    addresses: [],
    fault: expect.stringContaining('ETIMEOUT'),
  });
  expect(await reach('A', 'a.example', IP)).toEqual([IP]);
  const asked: string[] = [];
  const ask = async (host: string) => {
    asked.push(host);
    return ['203.0.113.8'];
  };
  expect(await grant('B', 'sip:B.example:5070;transport=tcp', false, ask)).toMatchObject({
    addresses: ['203.0.113.8'],
  });
  await grant('B', 'b.example', false, ask);
  expect(asked).toEqual(['b.example:5070', 'b.example']);
  await expect(grant('A', 'a.example', false, async () => Promise.reject(new Error('other')))).rejects.toThrow('other');
});

test('who may write nothing judges the same, and notes nothing', async () => {
  const { database, grant, reach, idOf } = await twoWorkspaces();
  await grant('A', 'a.example');
  await grant('B', 'b.example');
  const granted = grantedAddresses(database, { isReadOnly: true });
  expect(await granted(idOf('B'), 'b.example', [IP])).toEqual([IP]);
  expect(await reach('A', 'a.example', IP)).toEqual([IP]);
  expect(await grantedAddresses(database, { isReadOnly: true })(idOf('B'), 'b.example', [IP])).toEqual([]);
});

test('as the second workspace is made, what the first one’s trunks no longer name is not its own any more', async () => {
  const database = await firstWorkspace();
  const { id: first } = await database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
  );
  await seedTrunk(database, first, {
    termination_url: 'sip:[::ffff:203.0.113.5]:5060',
    ip_allowlist: ['198.51.100.0/24'],
  });
  const addresses = ['203.0.113.5', '198.51.100.0/24', 'former.example'];
  await database.inEngine(({ db }) =>
    db
      .insertInto('trunk_grants')
      .values(
        addresses.map((address) => ({ workspace_id: first, address, by_operator: false, created_at: new Date() })),
      )
      .execute(),
  );
  await grantTrunks(database, { workspace: 'A', address: 'coming.example', byName: false }, new Date(), async () => []);
  await createKey(database, systemClock, { name: 'Test', permissions: ['*'], workspace: 'B' }, dropUnnamedGrants);
  const left = await database.inEngine(({ db }) =>
    db.selectFrom('trunk_grants').select('address').orderBy('address').execute(),
  );
  expect(left.map(({ address }) => address)).toEqual(['198.51.100.0/24', '203.0.113.5', 'coming.example']);
});

test('a trunk whose grant is taken back while it is checked is checked again at once', async () => {
  const { database, grant, revoke, idOf } = await twoWorkspaces();
  const workspaceId = idOf('A');
  const id = await seedTrunk(database, workspaceId, { termination_url: 'a.example', due_at: new Date(0) });
  await grant('A', 'a.example');
  const deps = {
    ...{ database, clock: systemClock, log: pino({ level: 'silent' }), secrets: createSecrets(Buffer.alloc(32)) },
    ...{ trunkGuard: createAddressGuard({ networks: [], hosts: [] }), callsOut: true, onTurned: async () => {} },
    prober: {
      probeTrunk: async () => {
        await revoke('A', 'a.example');
        return { valid: true, reachable: true, credentials: 'not_given', reason: 'ok' } as const;
      },
    },
  };
  const check = async () => {
    const now = new Date();
    const due = await database.inEngine((tx) => takeDueTrunks(tx, now, new Date(now.getTime() + 60_000), 10));
    await checkTrunks(deps, due);
    return (await database.inWorkspace(workspaceId, (tx) => findTrunk(tx, id)))!;
  };
  expect(await check()).toMatchObject({ status: 'active' });
  expect(await check()).toMatchObject({ status: 'paused', reason: 'not_granted' });
});
