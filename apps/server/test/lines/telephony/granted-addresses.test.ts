import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { grantTrunks, revokeTrunks } from '../../../src/commands/trunk-grants.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import { grantedAddresses } from '../../../src/lines/trunks/granted-addresses.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { freshDatabase } from '../../database.ts';

/** Two workspaces, of which nothing is granted, and what they may reach. */
async function twoWorkspaces() {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await database.close();
    await fresh.drop();
  });
  const named = { name: 'Test', permissions: ['*'] };
  for (const workspace of ['A', 'B']) await createKey(database, systemClock, { ...named, workspace });
  const rows = await database.inEngine(({ db }) => db.selectFrom('workspaces').select(['id', 'name']).execute());
  const idOf = (name: string) => rows.find((row) => row.name === name)!.id;
  let now = 0;
  const granted = grantedAddresses(database, () => now);
  return {
    grant: (workspace: string, address: string, byName = false) =>
      grantTrunks(database, { workspace, address, byName }, new Date(), async () => []),
    revoke: (workspace: string, address: string) => revokeTrunks(database, { workspace, address }, new Date()),
    idOf,
    reach: (workspace: string, host: string | undefined, ...addresses: string[]) => {
      now += 5000;
      return granted(idOf(workspace), host, addresses);
    },
  };
}

const IP = '203.0.113.5';

test('an address is the workspace’s whose host led there first', async () => {
  const { grant, revoke, reach } = await twoWorkspaces();
  await grant('A', 'a.example');
  await grant('B', 'b.example');
  expect(await reach('A', 'A.example.', IP)).toEqual([IP]);
  expect(await reach('B', 'b.example', IP, '203.0.113.6')).toEqual(['203.0.113.6']);
  expect(await reach('B', 'a.example', IP)).toEqual([]);
  expect(await reach('A', 'a.example', IP, '203.0.113.6', '203.0.113.7')).toEqual([IP, '203.0.113.7']);
  await expect(grant('B', IP)).rejects.toThrow(/A's by its grant of a.example/);
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
