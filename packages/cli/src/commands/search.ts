import type { Command } from 'commander';
import { addFlags, type Flags, given } from '../flags.ts';
import { command } from '../group.ts';
import type { Io } from '../io.ts';

const flags: Flags<{ defaultCountry?: string }> = { defaultCountry: ['text', 'reads a number without +, such as US'] };

export function addSearch(program: Command, io: Io): void {
  const about = { usage: 'search <text>', says: 'What has this name, number or ID', example: 'search November' };
  const made = command(program, io, about, async ({ client, screen, options }, query = '') => {
    const { hits } = await client.search.search({ query, ...given(options, flags) });
    screen.table(hits, [
      ['type', 'type'],
      ['id', 'id'],
      ['name', 'name'],
      ['number', 'phoneNumber'],
      ['status', 'status'],
    ]);
  });
  addFlags(made, flags);
}
