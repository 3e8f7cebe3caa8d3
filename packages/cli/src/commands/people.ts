import type { Command } from 'commander';
import { addFlags, type Flags, given } from '../flags.ts';
import { group } from '../group.ts';
import type { Io } from '../io.ts';
import { plain } from '../text.ts';
import { reasonInWords } from './reasons.ts';

const flags: Flags<{ defaultCountry?: string }> = {
  defaultCountry: ['text', 'where a number without + is, such as US'],
};

export function addPeople(program: Command, io: Io): void {
  const people = group(program, io, 'people', 'What is known of a number', '+14155550100');
  const about = { usage: 'show <number>', says: 'Its lists, campaigns and calls', example: 'show +14155550100' };
  const made = people.add(about, async ({ client, screen, options }, phoneNumber = '') => {
    const person = await client.people.get(phoneNumber, given(options, flags));
    if (screen.json) return screen.record(person);
    const { lists, campaigns = [], calls = [], doNotCall = [], isDoNotCall, hasMoreCalls, ...number } = person;
    screen.record(number);
    if (isDoNotCall) screen.say(['It is on the do-not-call list.', ...doNotCall.map(({ reason }) => reason)].join(' '));
    if (lists.length > 0)
      screen.section('Lists', lists, [
        ['list', 'contactListId'],
        ['name', 'name'],
        ['person', ({ entry }) => entry.name],
        ['do not call', ({ entry, type }) => (entry.doNotCall || type === 'dnd' ? 'yes' : undefined)],
        ['agreed', ({ entry }) => entry.consent && (entry.consent.given ? 'yes' : 'no')],
      ]);
    if (campaigns.length > 0)
      screen.section('Campaigns', campaigns, [
        ['campaign', ({ campaignId, batchId }) => campaignId ?? batchId],
        ['status', 'status'],
        ['can call now', ({ callableNow }) => (callableNow ? 'yes' : 'no')],
        ['why not', ({ reason }) => reasonInWords(reason)],
        ['next', 'nextAttemptAt'],
      ]);
    if (calls.length > 0)
      screen.section('Calls', calls, [
        ['call', 'roomId'],
        ['status', 'status'],
        ['outcome', 'outcome'],
        ['queued', 'queuedAt'],
      ]);
    if (hasMoreCalls) screen.say(`\nOthers: trunkline calls list --phone-number ${plain(person.phoneNumber)}`);
  });
  addFlags(made, flags);
}
