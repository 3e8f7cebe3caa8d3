import type { Command } from 'commander';
import { Fault, usageFault } from '../faults.ts';
import { addFlags, number } from '../flags.ts';
import { type Client, group, showList } from '../group.ts';
import type { Io } from '../io.ts';
import { plain } from '../text.ts';
import { READ_AS, uploadList } from './upload-list.ts';

const EXAMPLE = 'list_…';

async function latestUpload(client: Client, id: string): Promise<string> {
  const { uploadDetails } = await client.contactLists.get(id);
  if (uploadDetails) return uploadDetails.id;
  throw usageFault('No file was uploaded into this list.');
}

/** `phone=+14155550142` */
function cellOf(text: string): [column: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw usageFault(`${text} is no cell.`, 'Write the column, =, and its value: phone=+14155550142');
  return [text.slice(0, at), text.slice(at + 1)];
}

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
  const rejected = {
    usage: 'rejected <id>',
    says: 'The rows of its latest file that fail',
    example: `rejected ${EXAMPLE}`,
  };
  lists
    .add(rejected, async (context, id = '') => {
      const uploadId = await latestUpload(context.client, id);
      await showList(
        context,
        (perPage: number) => context.client.contactLists.listRejectedRows(id, uploadId, { perPage }),
        [
          ['row', 'row'],
          ['value', ({ errors }) => errors.map(({ value }) => value || '(empty)').join('; ')],
          ['why', ({ errors }) => errors.map(({ reason }) => reason).join(' ')],
        ],
      );
      if (!context.screen.json)
        context.screen.say(`Mend one: trunkline lists mend ${id} ROW COLUMN=VALUE --upload ${uploadId}`);
    })
    .option('--limit <n>', 'how many at most', number, 50);
  const mend = {
    usage: 'mend <id> <row> <cells...>',
    says: 'Give cells of such a row other values, before the import',
    example: `mend ${EXAMPLE} 17 name=Ada --upload upl_…`,
  };
  lists
    .add(mend, async ({ client, screen, options }, id = '', row = '', ...given) => {
      const cells = Object.fromEntries(given.map(cellOf));
      const mended = await client.contactLists.mendRejectedRow(id, String(options['upload']), row, { cells });
      if (screen.json) return screen.record(mended);
      const { mendedAt, phoneNumber = '', errors } = mended;
      if (mendedAt) screen.say(`Row ${plain(row)} is imported with the others: ${plain(phoneNumber)}`);
      else throw new Fault(errors.map(({ reason }) => plain(reason)).join(' '));
    })
    // The list's latest file may be another one by now, with other people in its rows.
    .requiredOption('--upload <id>', 'the one that `rejected` names');
  lists.one('delete <id>', 'Delete a list', (client, id = '') => client.contactLists.delete(id));
}
