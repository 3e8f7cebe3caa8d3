import type { Command } from 'commander';
import { addFlags, type Flags, given } from '../flags.ts';
import { command } from '../group.ts';
import type { Io } from '../io.ts';

const flags: Flags<{ defaultCountry?: string }> = { defaultCountry: ['text', 'reads a number without +, such as US'] };

export function addSearch(program: Command, io: Io): void {
  const about = { usage: 'search <text>', says: 'What has this name, number or ID', example: 'search November' };
  const made = command(program, io, about, async ({ client, screen, options }, query = '') => {
    const found = await client.search.search({ query, ...given(options, flags) });
    if (screen.json) return screen.record(found);
    if (found.hits.length === 0)
      screen.say('Nothing has this ID or number, or a name with a word that begins like this.');
    else
      screen.table(found.hits, [
        ['type', 'type'],
        ['id', 'id'],
        ['name', 'name'],
        ['number', 'phoneNumber'],
        ['status', 'status'],
      ]);
    if (found.peopleIncomplete)
      screen.say('Not all people were looked at, only those who came last. A whole number finds everybody.');
  });
  addFlags(made, flags);
}
