import type { components } from '@trunkline/client';
import type { Command } from 'commander';
import type { First } from '../client-types.ts';
import { Fault } from '../faults.ts';
import { addFlags, type Flags, given, type Options } from '../flags.ts';
import { type Client, type Context, group } from '../group.ts';
import type { Io } from '../io.ts';
import type { Screen } from '../screen.ts';
import { several } from '../text.ts';
import { uploadList } from './upload-list.ts';

type Rejected = components['schemas']['RejectedDoNotCallNumber'];

const EXAMPLE = '+14155550142';
/** As many as one request takes. */
const MOST_AT_ONCE = 1000;
const COUNTRY = ['text', 'reads national numbers, such as US'] as const;

const addFields: Flags<First<'doNotCall', 'add'>> = {
  defaultCountry: COUNTRY,
  reason: ['text', 'why, kept with each number'],
  endRinging: ['switch', 'cancel their calls that ring (it does by itself)'],
};
const removeFields: Flags<{ defaultCountry?: string }> = { defaultCountry: COUNTRY };

export function addDnc(program: Command, io: Io): void {
  const dnc = group(program, io, 'dnc', 'Numbers that nobody calls', EXAMPLE);
  dnc.list(
    (client: Client) => client.doNotCall.list,
    [
      ['number', 'phoneNumber'],
      ['source', 'source'],
      ['since', 'createdAt'],
      ['reason', 'reason'],
      ['list', 'contactListId'],
    ],
    { searchText: ['text', 'digits in it'] },
  );
  const add = { usage: 'add <numbers...>', says: 'Have nobody call some numbers', example: `add ${EXAMPLE}` };
  addFlags(dnc.add(add, addNumbers), addFields);
  const remove = { usage: 'remove <numbers...>', says: 'Take numbers off the list', example: `remove ${EXAMPLE}` };
  addFlags(dnc.add(remove, removeNumbers), removeFields);
  const upload = {
    usage: 'upload <file>',
    says: 'Have nobody call the numbers of a CSV file, as a list of its own',
    example: 'upload register.csv --default-country US',
  };
  dnc
    .add(upload, uploadNumbers)
    .option('--name <text>', 'what to call the list (the name of the file)')
    .option('--default-country <text>', COUNTRY[1])
    .option('--errors <file>', 'write all rows that fail there, as CSV')
    .option('-y, --yes', 'import without asking');
}

/** The same options, the country as the server takes it. */
function capitals(options: Options): Options {
  const { defaultCountry } = options;
  return typeof defaultCountry === 'string' ? { ...options, defaultCountry: defaultCountry.toUpperCase() } : options;
}

/** Adds all that can be read, and fails if anything can't. */
async function addNumbers({ client, screen, options }: Context, ...phoneNumbers: string[]): Promise<void> {
  const done = { added: 0, alreadyListed: 0, rejected: [] as Rejected[] };
  /** Of a request of which nothing could be read: the others go out all the same. */
  let fault: unknown;
  for (let from = 0; from < phoneNumbers.length; from += MOST_AT_ONCE) {
    const some = phoneNumbers.slice(from, from + MOST_AT_ONCE);
    const body = { ...given(capitals(options), addFields), phoneNumbers: some };
    const answer = await client.doNotCall.add(body).catch((error: unknown) => {
      fault ??= error;
    });
    if (!answer) continue;
    done.added += answer.added;
    done.alreadyListed += answer.alreadyListed;
    done.rejected.push(...answer.rejected.map((each) => ({ ...each, index: each.index + from })));
  }
  if (fault && done.added + done.alreadyListed === 0) throw fault;
  if (screen.json) screen.record(done);
  screen.say(`${several(done.added, 'number')} added, ${done.alreadyListed} there already.`);
  if (fault) throw fault;
  refuseRejected(screen, done.rejected);
}

function refuseRejected(screen: Screen, rejected: readonly Rejected[]): void {
  if (rejected.length === 0) return;
  screen.section(`${several(rejected.length, 'number')} not added`, rejected, [
    ['number', 'phoneNumber'],
    ['why', 'error'],
  ]);
  const next = rejected.some(({ code }) => code === 'default_country_needed') ? 'Add --default-country US.' : undefined;
  throw new Fault(`${several(rejected.length, 'number')} can't be read, and may still be called.`, {
    ...(next && { next }),
  });
}

/** Takes off all that can be, and fails if anything can't. */
async function removeNumbers({ client, screen, options }: Context, ...phoneNumbers: string[]): Promise<void> {
  const removed: string[] = [];
  const left: { phoneNumber: string; error: string }[] = [];
  for (const phoneNumber of phoneNumbers) {
    try {
      removed.push((await client.doNotCall.remove(phoneNumber, given(capitals(options), removeFields))).id);
    } catch (error) {
      if (phoneNumbers.length === 1) throw error;
      left.push({ phoneNumber, error: (error as Error).message });
    }
  }
  if (screen.json) screen.record({ removed, left });
  screen.say(
    `${several(removed.length, 'number')} may be called again, unless a list holds ${removed.length === 1 ? 'it' : 'them'}.`,
  );
  if (left.length === 0) return;
  screen.section(`${several(left.length, 'number')} not taken off`, left, [
    ['number', 'phoneNumber'],
    ['why', 'error'],
  ]);
  throw new Fault(`${several(left.length, 'number')} could not be taken off.`);
}

/** Imports a list of the type `dnd`, and fails if any of its rows can't be read. */
async function uploadNumbers(context: Context, file = ''): Promise<void> {
  const { defaultCountry: country } = context.options;
  const { invalidRows } = await uploadList({ ...context, options: { ...context.options, country, dnd: true } }, file);
  if (invalidRows > 0)
    throw new Fault(`${several(invalidRows, 'row')} can't be read, and may still be called.`, {
      next: 'Mend them in the file, and upload it again; --errors FILE writes them all.',
    });
}
