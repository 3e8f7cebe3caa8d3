import { expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { addFile, confirm, importFile, validated } from '../../audience/contact-lists/contact-files.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { until } from '../../until.ts';
import { expectEachCalledOnce, goOn, installation, type ProviderCall, workspaceOf } from './restored.ts';

const CONTACTS = 10;
const FROM = '+12125550198';
const contact = (at: number) => `+${14_155_550_000 + at}`;
const HOUR_MS = 3_600_000;

test('whoever says no after the backup, in whichever way, is not called after it either', async () => {
  const place = await installation();
  const before = await place.serve();
  const workspaceId = await workspaceOf(before);
  const number = (at: number) => 14_155_550_000 + at;
  const phoneNumber = { phone_number: FROM };
  await seedCampaign(before.database, { workspaceId, contacts: 1, number, phoneNumber });
  await until(async () => expect((await place.provider()).length).toBe(1));
  expect((await before.client.POST('/v1/workspace/pause-dialing')).error).toBeUndefined();
  const scheduledAt = new Date(before.clock.now().getTime() + HOUR_MS).toISOString();
  const batch = await before.client.POST('/v1/calls/batch', {
    body: { agentId: 'agent', fromNumber: FROM, recipients: [{ phoneNumber: '+14155550150' }], scheduledAt },
  });
  expect(batch.error).toBeUndefined();
  const { batchId } = batch.data!;
  const { id: dndId } = await importFile(before, 'phone\n+14155550199\n', { type: 'dnd' });
  const { campaignId } = await seedCampaign(before.database, { workspaceId, contacts: CONTACTS, number });
  await until(async () => expect((await campaignRow(before.database, campaignId)).pending).toBe(CONTACTS));
  await place.backUp();

  const server = await place.serve();
  const { client } = server;
  const [{ room, to }] = (await place.provider()) as [ProviderCall];
  expect(to).toBe(contact(0));
  const params = { path: { roomId: toId('room', room) } };
  await until(async () => expect((await client.GET('/v1/calls/{roomId}', { params })).data!.endedAt).toBeDefined());
  const result = await client.POST('/v1/calls/{roomId}/result', { params, body: { optOut: true } });
  expect(result.error).toBeUndefined();
  const optOut = await client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [contact(1), contact(2)] } });
  expect(optOut.data).toMatchObject({ added: 2 });
  await importFile(server, `phone\n${contact(3)}\n${contact(4)}\n`, { type: 'dnd' });
  const merged = await addFile(server, dndId, `phone\n${contact(5)}\n+14155550199\n`);
  await validated(server, merged);
  expect((await confirm(server, merged)).error).toBeUndefined();
  const entries = { params: { path: { id: dndId } }, body: { entries: [{ phoneNumber: contact(6) }] } };
  expect((await client.POST('/v1/calls/contact-lists/{id}/entries', entries)).error).toBeUndefined();
  const cancelled = await client.POST('/v1/calls/batch/{batchId}/cancel', { params: { path: { batchId } } });
  expect(cancelled.error).toBeUndefined();
  await place.restore();

  expect(await place.confirm()).toContain('opt-outs to put back: 7');
  expect((await campaignRow(place.database(), fromId(batchId))).status).toBe('cancelled');
  const again = await place.serve();
  await goOn(again, campaignId);
  expect((await place.provider()).map((call) => call.to).toSorted()).toEqual(
    [contact(0), contact(7), contact(8), contact(9)].toSorted(),
  );
  await expectEachCalledOnce(place);
});
