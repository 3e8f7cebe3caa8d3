import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fileWitness } from '../../../src/platform/installation/file-witness.ts';
import type { WitnessedCall } from '../../../src/platform/installation/witness.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { seedContacts } from '../../seed/campaign.ts';
import { installation } from './restored.ts';

const CALLS = 100_000;
const SET = 200;

test('a gap of 100,000 calls is marked', async () => {
  const place = await installation();
  await place.serve();
  await place.backUp();
  const database = place.database();
  const { workspaceId, campaignId } = await seedContacts(database, CALLS, 0);
  const contacts = await database.inEngine(({ db }) =>
    sql<{ id: string; room: string }>`
      select id, gen_random_uuid() as room from campaign_contacts where campaign_id = ${campaignId}`.execute(db),
  );
  await database.inEngine(({ db }) =>
    sql`update campaigns set pending = ${CALLS} where id = ${campaignId}`.execute(db),
  );
  const witness = fileWitness(await place.witnessFolder());
  const at = new Date().toISOString();
  for (let from = 0; from < CALLS; from += SET) {
    const calls = contacts.rows.slice(from, from + SET).map(
      ({ id, room }): WitnessedCall => ({
        ...{ workspaceId, campaignId, ownerKind: 'contact', ownerId: id, roomId: room, attempt: 1, to: '', at },
      }),
    );
    await witness.append(1, [{ number: 1000 + from / SET, at, calls }]);
  }
  await witness.close();
  expect(await place.confirm()).toContain(`to be marked as placed: ${CALLS}.`);
  expect(await campaignRow(database, campaignId)).toMatchObject({
    unknown: CALLS,
    done: CALLS,
    in_flight: 0,
    pending: 0,
  });
}, 900_000);
