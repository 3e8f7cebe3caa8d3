import type { Command } from 'commander';
import { addFlags, number } from '../flags.ts';
import { type Client, group, showList } from '../group.ts';
import type { Io } from '../io.ts';
import { READ_AS, uploadList } from './upload-list.ts';

const EXAMPLE = 'list_…';

export function addLists(program: Command, io: Io): void {
  const lists = group(program, io, 'lists', 'Contact lists', EXAMPLE);
  lists.list(
    (client: Client) => client.contactLists.list,
    [
      ['id', 'id'],
      ['status', 'status'],
      ['name', 'name'],
      ['contacts', 'totalEntries'],
      ['type', 'type'],
    ],
    { searchText: ['text', 'part of the name'] },
  );
  lists.one('show <id>', 'Show a list', (client, id = '') => client.contactLists.get(id));
  const upload = {
    usage: 'upload <file>',
    says: 'Make a list of a file: shows how it is read and which rows fail, and asks',
    example: 'upload people.csv --country US',
  };
  const uploading = lists.add(upload, async (context, file) => void (await uploadList(context, file)));
  addFlags(uploading, READ_AS);
  uploading
    .option('--name <text>', 'what to call it (the name of the file)')
    .option('--country <cc>', 'reads national numbers, such as US')
    .option('--dnd', 'a list of whom never to call')
    .option('--errors <file>', 'write all rows that fail there, as CSV')
    .option('-y, --yes', 'import without asking');
  const entries = { usage: 'entries <id>', says: 'The people in a list', example: `entries ${EXAMPLE}` };
  lists
    .add(entries, async (context, id = '') => {
      await showList(context, (perPage: number) => context.client.contactLists.listEntries(id, { perPage }), [
        ['number', 'phoneNumber'],
        ['name', 'name'],
        ['time zone', ({ timezones }) => timezones],
        ['not to be called', ({ doNotCall }) => doNotCall && 'yes'],
        ['has agreed', ({ consent }) => consent && (consent.given ? 'yes' : 'no')],
      ]);
    })
    .option('--limit <n>', 'how many at most', number, 50);
  lists.one('delete <id>', 'Delete a list', (client, id = '') => client.contactLists.delete(id));
}
