import type { Command } from 'commander';
import papaparse from 'papaparse';
import type { First } from '../client-types.ts';
import { Fault, usageFault } from '../faults.ts';
import { addFlags, DATA_FLAG, type Flags, given, number, parseJson, readData, readText } from '../flags.ts';
import { type Client, type Group, group, showList } from '../group.ts';
import type { Io } from '../io.ts';
import { several } from '../text.ts';

type StartBatch = First<'batches', 'start'>;
type Recipient = StartBatch['recipients'][number];

const EXAMPLE = 'bat_…';

const flags: Flags<StartBatch> = {
  name: ['text', 'what to call it'],
  agentId: ['text', 'the agent that talks'],
  fromNumber: ['text', 'the number that calls'],
  numberPoolId: ['text', 'or the pool of numbers'],
  defaultCountry: ['text', 'reads national numbers, such as US'],
  scheduledAt: ['text', 'not before then'],
  timezone: ['text', 'of its hours'],
  maxConcurrency: ['number', 'calls at once'],
  voicemailCounts: ['switch', 'done by a message that was left'],
  recording: ['switch', 'record the calls'],
  tags: ['list', 'stand on its calls'],
};

export function addBatches(program: Command, io: Io): void {
  const batches = group(program, io, 'batches', 'Call up to 1,000 people at once', EXAMPLE);
  batches.list(
    (client: Client) => client.batches.list,
    [
      ['id', 'batchId'],
      ['status', 'status'],
      ['name', 'name'],
      ['people', 'acceptedCount'],
      ['made', 'createdAt'],
    ],
  );
  addCreate(batches);
  batches.one('show <id>', 'Show a batch', (client, id = '') => client.batches.get(id));
  addRecipients(batches);
  batches.one('pause <id>', 'Call nobody new', (client, id = '') => client.batches.pause(id));
  batches.one('resume <id>', 'Go on', (client, id = '') => client.batches.resume(id));
  batches.one('cancel <id>', 'End it', (client, id = '') => client.batches.cancel(id));
  batches.one('delete <id>', 'Delete it, once it has ended', (client, id = '') => client.batches.delete(id));
}

function addCreate(batches: Group): void {
  const about = {
    usage: 'create [file]',
    says: 'Call the people in a CSV or JSON file, now',
    example: 'create people.csv --agent-id agent_hello',
  };
  const made = batches.add(about, async ({ client, io, screen, options }, file) => {
    const data = { ...(await readData(io, options['data'])), ...given(options, flags) };
    const body = file ? { ...data, recipients: recipientsOf(await readText(io, file), file) } : data;
    const started = await client.batches.start(body as StartBatch);
    if (screen.json) screen.record(started);
    const { batchId, status, acceptedRecipients: accepted, rejectedRecipients: rejected } = started;
    screen.say(`${batchId} is ${status}: ${several(accepted.length, 'recipient')}.`);
    if (rejected.length > 0)
      screen.section(`${several(rejected.length, 'recipient')} left out`, rejected, [
        ['row', ({ index }) => index + 1],
        ['number', 'phoneNumber'],
        ['why', 'error'],
      ]);
    if (status === 'failed') throw new Fault('Nobody in it can be called.');
    screen.say(`Follow it: trunkline batches recipients ${batchId}`);
  });
  addFlags(made, flags);
  made.option(...DATA_FLAG);
}

/** The fields of a recipient, by how people head columns. What stands under other headers are its metadata. */
const columnNames: Readonly<Record<string, keyof Recipient>> = {
  phonenumber: 'phoneNumber',
  phone: 'phoneNumber',
  number: 'phoneNumber',
  name: 'name',
  externalid: 'externalId',
  timezone: 'timezone',
};

/** Reads the recipients of a file: an array as JSON, or CSV with a header. */
export function recipientsOf(text: string, file: string): Recipient[] {
  if (/^\s*\[/.test(text)) return parseJson(text, file) as Recipient[];
  const { data, meta } = papaparse.parse<Record<string, string>>(text.replace(/^\ufeff/, ''), {
    header: true,
    skipEmptyLines: 'greedy',
  });
  const fieldOf = (header: string) => columnNames[header.toLowerCase().replace(/[^a-z]/g, '')];
  if (!meta.fields?.some((header) => fieldOf(header) === 'phoneNumber'))
    throw usageFault(`${file} has no column phone.`, 'Name a column of its first line phone.');
  return data.map((row) => {
    const cells = Object.entries(row).filter(([, cell]) => typeof cell === 'string' && cell.trim() !== '');
    const known = cells.filter(([header]) => fieldOf(header));
    const metadata = Object.fromEntries(cells.filter(([header]) => !fieldOf(header)));
    const recipient = Object.fromEntries(known.map(([header, cell]) => [fieldOf(header), cell.trim()]));
    return { phoneNumber: '', ...recipient, ...(Object.keys(metadata).length > 0 && { metadata }) };
  });
}

function addRecipients(batches: Group): void {
  const about = { usage: 'recipients <id>', says: 'What became of each', example: `recipients ${EXAMPLE}` };
  batches
    .add(about, async (context, id = '') => {
      await showList(context, (perPage: number) => context.client.batches.listRecipients(id, { perPage }), [
        ['number', 'phoneNumber'],
        ['state', ({ state, accepted }) => state ?? (accepted ? '' : 'rejected')],
        ['outcome', 'lastOutcome'],
        ['reason', ({ reason, code }) => reason ?? code],
        ['tries', 'attempts'],
        ['external id', 'externalId'],
      ]);
    })
    .option('--limit <n>', 'how many at most', number, 50);
}
