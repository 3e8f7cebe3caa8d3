import type { TrunklineClient } from '@trunkline/client';

/** What is to be tested: takes people from a file, and makes a campaign that will call them from a number of ours. */
export async function prepareCampaign(client: TrunklineClient, name: string, people: string) {
  const { items } = await client.phoneNumbers.searchAvailable({ provider: 'simulator', country: 'US' });
  const number = await client.phoneNumbers.buy({ phoneNumber: items[0]!.phoneNumber, provider: 'simulator' });
  const { list, upload } = await client.contactLists.upload({ name, file: people, defaultCountry: 'US' });
  if (upload.metadata.validRows === 0) throw new Error(`Nobody in the file can be called: ${upload.errorReportUrl}`);
  await client.contactLists.confirm(list.id);
  return client.campaigns.create({
    name,
    agentId: 'agent_reminders',
    fromNumber: number.phoneNumber,
    lists: [{ id: list.id, role: 'contacts' }],
  });
}
