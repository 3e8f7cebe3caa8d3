import {
  type components,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  type TrunklineClient,
} from '@trunkline/client';
import type { Command } from 'commander';
import { exitCodes, Fault } from '../faults.ts';
import { addFlags, type Flags, given } from '../flags.ts';
import { type Context, command } from '../group.ts';
import type { Io } from '../io.ts';
import { plain, several } from '../text.ts';
import { reasonInWords, states } from './reasons.ts';
import { digitsOf, rejectedRows, sentencesOf } from './rejected-rows.ts';
import { workspaceReasons } from './workspace-reasons.ts';

type Contact = components['schemas']['CampaignContact'];
type Person = components['schemas']['Person'];

/** The contact of a campaign that has this number, which may be written as people do. */
async function contactOf(client: TrunklineClient, id: string, phoneNumber: string): Promise<Contact | undefined> {
  const digits = digitsOf(phoneNumber);
  const { items } = await client.campaigns.listContacts(id, { searchText: digits });
  return items.find((each) => digitsOf(each.phoneNumber).endsWith(digits));
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
export async function whyInCampaign({ client, screen, io }: Context, id = '', phoneNumber = ''): Promise<void> {
  const contact = await contactOf(client, id, phoneNumber);
  if (contact) {
    if (screen.json) return screen.record(contact);
    return screen.say([`${contact.phoneNumber} ${plain(contact.name)}`.trim(), ...sentences(contact)].join('\n  '));
  }
  const { lists } = await client.campaigns.get(id);
  const ofContacts = lists.filter(({ role }) => role === 'contacts').map((list) => list.id);
  const rejected = await rejectedRows(client, phoneNumber, io.signal, ofContacts);
  if (rejected.length === 0)
    throw new Fault(`${phoneNumber} is no contact of this campaign.`, {
      exitCode: exitCodes.notFound,
      next: `Before a start nobody is: trunkline campaigns preview ${id}`,
    });
  if (screen.json) return screen.record({ rejectedRows: rejected });
  for (const sentence of sentencesOf(rejected)) screen.say(sentence);
}

/** What is known of a number; nothing if that is nothing, or if it is none, which `fault` says. */
async function personOf(client: TrunklineClient, phoneNumber: string, query: object) {
  try {
    return { person: await client.people.get(phoneNumber, query) };
  } catch (fault) {
    if (fault instanceof NotFoundError) return {};
    if (fault instanceof InvalidRequestError) return { fault };
    throw fault;
  }
}

/** What says that nobody is to call: the do-not-call list, and lists of contacts. */
function doNotCallSentences({ phoneNumber, isDoNotCall, doNotCall = [], lists }: Person): string[] {
  const entries = doNotCall.map(
    ({ createdAt, reason }) => `since ${plain(createdAt)}${reason ? `: ${plain(reason)}` : ''}`,
  );
  const listed = isDoNotCall ? [`${phoneNumber} is on the do-not-call list ${entries.join('; ')}`.trim()] : [];
  const byLists = lists.flatMap(({ contactListId, name, entry, type }) => [
    ...(entry.doNotCall && type !== 'dnd'
      ? [`The list ${plain(name)} (${contactListId}) says that nobody is to call.`]
      : []),
    ...(entry.consent?.given === false
      ? [`The list ${plain(name)} (${contactListId}) says that they have not agreed.`]
      : []),
  ]);
  return [...listed.map((text) => (/[.!?]$/.test(text) ? text : `${text}.`)), ...byLists];
}

/** One of its campaigns or batches, and what is judged there now. */
function inCampaign({
  campaignId,
  batchId,
  name,
  status,
  contact,
  callableNow,
  reason,
  nextAttemptAt,
}: Judged): string {
  const now = { ...contact, ...(reason && { reason }), ...(nextAttemptAt && { nextAttemptAt }) };
  const lines = callableNow ? ['It can be called now.', ...sentences(contact)] : sentences(now);
  return [`${plain(name) || 'Batch'} (${campaignId ?? batchId}, ${status})`, ...lines].join('\n  ');
}

type Judged = NonNullable<Person['campaigns']>[number];

const flags: Flags<{ defaultCountry?: string }> = { defaultCountry: ['text', 'reads a number without +, such as US'] };

/** A key that may not read lists is told all else. */
function noneIfForbidden(error: unknown): [] {
  if (error instanceof ForbiddenError) return [];
  throw error;
}

/** Each reason that there is why a number was not called, or is not now. */
async function why({ client, screen, options, io }: Context, phoneNumber = ''): Promise<void> {
  const [workspace, { person, fault }, rejected] = await Promise.all([
    client.workspace.get(),
    personOf(client, phoneNumber, given(options, flags)),
    rejectedRows(client, phoneNumber, io.signal).catch(noneIfForbidden),
  ]);
  if (!person && rejected.length === 0)
    throw (
      fault ??
      new Fault(`Nothing is known of ${phoneNumber}: no list, campaign, call or do-not-call entry has it.`, {
        exitCode: exitCodes.notFound,
        next: 'Is it the number as the file has it? Without + it needs --default-country.',
      })
    );
  const { dialingPausedAt } = workspace;
  const reasons = person ? workspaceReasons(workspace, person, new Date()) : [];
  if (screen.json) {
    const contacts = person?.campaigns?.map(({ campaignId, batchId, contact, reason }) => ({
      ...(campaignId ? { campaignId } : { batchId }),
      ...contact,
      ...(reason && { reason }),
    }));
    const doNotCall = person?.doNotCall?.[0];
    return screen.record({
      dialingPausedAt,
      doNotCall,
      contacts: contacts ?? [],
      person,
      reasons,
      rejectedRows: rejected,
    });
  }
  if (dialingPausedAt) screen.say(`All dialing is stopped since ${plain(dialingPausedAt)}: trunkline resume`);
  const all = [...(person ? doNotCallSentences(person) : []), ...reasons, ...sentencesOf(rejected)];
  for (const sentence of all) screen.say(sentence);
  for (const campaign of person?.campaigns ?? []) screen.say(inCampaign(campaign));
  if (person?.campaigns?.length === 0) screen.say('No campaign or batch has this number.');
}

export function addWhy(program: Command, io: Io): void {
  const about = { usage: 'why <number>', says: 'Each reason why a number is not called', example: 'why +14155550100' };
  addFlags(command(program, io, about, why), flags);
}
