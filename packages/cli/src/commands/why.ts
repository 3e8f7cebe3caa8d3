import type { components, TrunklineClient } from '@trunkline/client';
import type { Command } from 'commander';
import { exitCodes, Fault, usageFault } from '../faults.ts';
import { type Context, command } from '../group.ts';
import type { Io } from '../io.ts';
import { plain, several } from '../text.ts';
import { reasonInWords, states } from './reasons.ts';

type Contact = components['schemas']['CampaignContact'];

/** The newest campaigns, among which the one is that a person asks about. */
const LOOKED_AT = 20;

/** What a number is looked for by, so that it may be written as people do. */
const digitsOf = (phoneNumber: string) => phoneNumber.replace(/\D/g, '');

/** Whichever of them has this number. */
const withNumber = <Each extends { phoneNumber: string }>(items: readonly Each[], digits: string): Each | undefined =>
  items.find((each) => digitsOf(each.phoneNumber).endsWith(digits));

/** The contact of a campaign that has this number. */
async function contactOf(client: TrunklineClient, id: string, digits: string): Promise<Contact | undefined> {
  const { items } = await client.campaigns.listContacts(id, { searchText: digits });
  return withNumber(items, digits);
}

/** What is known of a contact, a sentence each. */
function sentences({ state, reason, attempts, lastOutcome, nextAttemptAt, roomIds }: Contact): string[] {
  return [
    `State: ${states[state as keyof typeof states] ?? state}${reason ? ` (${reason})` : ''}.`,
    reasonInWords(reason),
    attempts > 0
      ? `Called ${several(attempts, 'time')}${lastOutcome ? `, at last: ${lastOutcome}` : ''}.`
      : 'Not called.',
    nextAttemptAt && `Next try: ${plain(nextAttemptAt)}.`,
    roomIds.length > 0 && `Last call: trunkline calls show ${roomIds.at(-1)}`,
  ].filter((each) => typeof each === 'string' && each !== '') as string[];
}

/** Why a number was not called in a campaign, or is not now. */
export async function whyInCampaign({ client, screen }: Context, id = '', phoneNumber = ''): Promise<void> {
  const contact = await contactOf(client, id, digitsOf(phoneNumber));
  if (!contact)
    throw new Fault(`${phoneNumber} is no contact of this campaign.`, {
      exitCode: exitCodes.notFound,
      next: `Before a start nobody is: trunkline campaigns preview ${id}`,
    });
  if (screen.json) return screen.record(contact);
  screen.say([`${contact.phoneNumber} ${plain(contact.name)}`.trim(), ...sentences(contact)].join('\n  '));
}

/** Why a number was not called, over everything that could call it. */
async function why({ client, screen }: Context, phoneNumber = ''): Promise<void> {
  const digits = digitsOf(phoneNumber);
  if (digits.length < 3) throw usageFault(`${phoneNumber} is no phone number.`);
  const [workspace, listed, { items: campaigns }] = await Promise.all([
    client.workspace.get(),
    client.doNotCall.list({ searchText: digits }),
    client.campaigns.list({ perPage: LOOKED_AT }),
  ]);
  const found: { campaign: (typeof campaigns)[number]; contact: Contact }[] = [];
  for (const campaign of campaigns) {
    const contact = await contactOf(client, campaign.id, digits);
    if (contact) found.push({ campaign, contact });
  }
  const doNotCall = withNumber(listed.items, digits);
  if (screen.json) {
    const contacts = found.map(({ campaign, contact }) => ({ campaignId: campaign.id, ...contact }));
    return screen.record({ dialingPausedAt: workspace.dialingPausedAt, doNotCall, contacts });
  }
  if (workspace.dialingPausedAt)
    screen.say(`All dialing is paused since ${plain(workspace.dialingPausedAt)}: trunkline unpause`);
  if (doNotCall) screen.say(`${doNotCall.phoneNumber} is on the do-not-call list since ${plain(doNotCall.createdAt)}.`);
  for (const { campaign, contact } of found)
    screen.say([`${plain(campaign.name)} (${campaign.id}, ${campaign.status})`, ...sentences(contact)].join('\n  '));
  if (found.length === 0)
    screen.say(`No contact of the ${several(campaigns.length, 'newest campaign')} has this number.`);
}

export function addWhy(program: Command, io: Io): void {
  command(
    program,
    io,
    { usage: 'why <number>', says: 'Why a number was not called', example: 'why +14155550100' },
    why,
  );
}
