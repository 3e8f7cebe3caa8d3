import { ForbiddenError, type TrunklineClient } from '@trunkline/client';
import { exitCodes, Fault, usageFault } from './faults.ts';
import type { Options } from './flags.ts';
import { plain } from './text.ts';

/** A thing as a person may call it. */
interface Thing {
  id: string;
  names: readonly (string | undefined)[];
}

/** Things of a kind: what their IDs begin with, and how they are listed. */
export interface Kind {
  /** Of one and of several. */
  nouns: readonly [string, string];
  prefix: string;
  /** The command that lists them. */
  listing: string;
  pages(client: TrunklineClient, query: object): AsyncIterable<{ items: Thing[]; nextCursor?: string | undefined }>;
}

interface Listing<Row> {
  pages(): AsyncIterable<{ items: Row[]; nextCursor?: string }>;
}

/** A kind, of how the client lists it and what of a row a person calls it by. */
export function kind<Row, Query>(
  [one, many, prefix, listing]: readonly [one: string, many: string, prefix: string, listing: string],
  list: (client: TrunklineClient) => (query: Query) => Listing<Row>,
  idOfRow: (row: NoInfer<Row>) => string,
  ...names: ((row: NoInfer<Row>) => string | undefined)[]
): Kind {
  return {
    nouns: [one, many],
    prefix,
    listing,
    async *pages(client, query) {
      for await (const { items, nextCursor } of list(client)(query as never).pages())
        yield { items: items.map((row) => ({ id: idOfRow(row), names: names.map((name) => name(row)) })), nextCursor };
    },
  };
}

const idOfRow = ({ id }: { id: string }) => id;
const nameOfRow = ({ name }: { name?: string }) => name;

/** What commands take IDs of, by the group of commands. */
const kinds = {
  numbers: kind(
    ['phone number', 'phone numbers', 'pn', 'numbers list'],
    (client: TrunklineClient) => client.phoneNumbers.list,
    idOfRow,
    ({ phoneNumber }) => phoneNumber,
    ({ label }) => label,
  ),
  trunks: kind(
    ['trunk', 'trunks', 'trk', 'trunks list'],
    (client: TrunklineClient) => client.trunks.list,
    idOfRow,
    ({ terminationUrl }) => terminationUrl,
  ),
  pools: kind(
    ['pool', 'pools', 'pool', 'pools list'],
    (client: TrunklineClient) => client.numberPools.list,
    idOfRow,
    nameOfRow,
  ),
  agents: kind(
    ['agent', 'agents', 'agent', 'agents list'],
    (client: TrunklineClient) => client.agents.list,
    idOfRow,
    nameOfRow,
  ),
  sounds: kind(
    ['sound', 'sounds', 'snd', 'sounds list'],
    (client: TrunklineClient) => client.sounds.list,
    idOfRow,
    nameOfRow,
  ),
  lists: kind(
    ['list', 'lists', 'list', 'lists list'],
    (client: TrunklineClient) => client.contactLists.list,
    idOfRow,
    nameOfRow,
  ),
  campaigns: kind(
    ['campaign', 'campaigns', 'cmp', 'campaigns list'],
    (client: TrunklineClient) => client.campaigns.list,
    idOfRow,
    nameOfRow,
  ),
  batches: kind(
    ['batch', 'batches', 'bat', 'batches list'],
    (client: TrunklineClient) => client.batches.list,
    ({ batchId }) => batchId,
    nameOfRow,
  ),
  calls: kind(
    ['call', 'calls', 'room', 'calls list'],
    (client: TrunklineClient) => client.calls.list,
    ({ roomId }) => roomId,
  ),
  workflows: kind(
    ['workflow', 'workflows', 'wf', 'workflows list'],
    (client: TrunklineClient) => client.workflows.list,
    idOfRow,
    nameOfRow,
  ),
  runs: kind(['run', 'runs', 'run', 'runs list'], (client: TrunklineClient) => client.workflowRuns.listRuns, idOfRow),
  kb: kind(
    ['knowledge base', 'knowledge bases', 'kb', 'kb list'],
    (client: TrunklineClient) => client.knowledgeBases.list,
    idOfRow,
    nameOfRow,
  ),
  webhooks: kind(
    ['endpoint', 'endpoints', 'whk', 'webhooks list'],
    (client: TrunklineClient) => client.webhooks.list,
    idOfRow,
    ({ url }) => url,
    ({ description }) => description,
  ),
  keys: kind(['key', 'keys', 'key', 'keys list'], (client: TrunklineClient) => client.apiKeys.list, idOfRow, nameOfRow),
  members: kind(
    ['member', 'members', 'mem', 'members list'],
    (client: TrunklineClient) => client.members.list,
    idOfRow,
    ({ email }) => email,
  ),
} as const satisfies Record<string, Kind>;

const ARGUMENTS: Readonly<Record<string, keyof typeof kinds>> = { workflow: 'workflows', room: 'calls' };

/** What a group's argument is an ID of, such as `id` of `campaigns`; nothing if it is none. */
export function kindOfArgument(group: string, argument: string): Kind | undefined {
  const name = argument === 'id' ? group : ARGUMENTS[argument];
  return name && name in kinds ? kinds[name as keyof typeof kinds] : undefined;
}

/** What flags are IDs of. */
const FLAGS: Readonly<Record<string, keyof typeof kinds>> = {
  agentId: 'agents',
  inboundAgentId: 'agents',
  outboundAgentId: 'agents',
  numberPoolId: 'pools',
  trunkId: 'trunks',
  campaignId: 'campaigns',
  batchId: 'batches',
  knowledgeBaseIds: 'kb',
  phoneNumberIds: 'numbers',
  addPhoneNumberIds: 'numbers',
  removePhoneNumberIds: 'numbers',
  list: 'lists',
  dndList: 'lists',
};

/** The options, with the IDs of what some of them name. */
export async function withIds(client: TrunklineClient, options: Options): Promise<Options> {
  const found: Record<string, unknown> = {};
  for (const [flag, name] of Object.entries(FLAGS)) {
    const given = options[flag];
    const idOfWord = (word: string) => (name === 'agents' ? idOfAgent(client, word) : idOf(client, kinds[name], word));
    if (typeof given === 'string') found[flag] = await idOfWord(given);
    if (Array.isArray(given)) found[flag] = await Promise.all(given.map(idOfWord));
  }
  return { ...options, ...found };
}

/** A directory has agents of its own, under any ID: what this server has no agent of by that name is such a one. */
async function idOfAgent(client: TrunklineClient, word: string): Promise<string> {
  if (/^agent_(?![0-9a-f]+$)/.test(word) || isWhole(kinds.agents, word)) return word;
  const things = await look(client, kinds.agents, word).catch((error: unknown) => {
    if (error instanceof ForbiddenError) return [];
    throw error;
  });
  const exact = things.filter((thing) => isCalled(thing, word) || thing.id.startsWith(word));
  return exact.length > 0 ? only(kinds.agents, exact, word) : word;
}

const isWhole = ({ prefix }: Kind, word: string) => new RegExp(`^${prefix}_[0-9a-f]{32}$`).test(word);
const isBeginning = ({ prefix }: Kind, word: string) => word.startsWith(`${prefix}_`);
const same = (name: string | undefined, word: string) => name?.toLowerCase() === word.toLowerCase();
const isCalled = ({ names }: Thing, word: string) => names.some((name) => same(name, word));
const begins = ({ id, names }: Thing, word: string) =>
  id.startsWith(word) || names.some((name) => same(name?.slice(0, word.length), word));

/** The ID of what a word names: an ID, the beginning of one, a name or its beginning. Refuses a word that names several. */
export async function idOf(client: TrunklineClient, which: Kind, word: string): Promise<string> {
  return isWhole(which, word) ? word : only(which, await look(client, which, word), word);
}

/** A whole ID, as what deletes takes it. Throws a usage fault that says it if a word names just one thing. */
export async function wholeId(client: TrunklineClient, which: Kind, word: string, command: string): Promise<string> {
  if (isWhole(which, word)) return word;
  const id = only(which, await look(client, which, word), word);
  throw usageFault(`What deletes takes a whole ID, and ${plain(word)} is none.`, `trunkline ${command} ${id}`);
}

/**
 * An ID, of what dials or can't be undone: an exact name, an ID, or the beginning of one. The beginning of a name might mean
 * another one, that was deleted; a usage fault says the ID then.
 */
export async function namedId(client: TrunklineClient, which: Kind, word: string, command: string): Promise<string> {
  if (isWhole(which, word)) return word;
  const found = await look(client, which, word);
  const id = only(which, found, word);
  if (id.startsWith(word) || found.some((thing) => isCalled(thing, word))) return id;
  throw usageFault(`${plain(word)} is only the beginning of a name.`, `trunkline ${command} ${id}`);
}

const MOST_PAGES = 10;
const PAGE = 100;

/** What begins with the word, of the newest 1,000 whose names hold it; what is called so alone, if there is one. */
async function look(client: TrunklineClient, which: Kind, word: string): Promise<Thing[]> {
  const found: Thing[] = [];
  const asksForId = isBeginning(which, word);
  const hasNames = which !== kinds.calls && which !== kinds.runs;
  if (!asksForId && !hasNames) return [];
  let pages = 0;
  for await (const { items, nextCursor } of which.pages(client, {
    perPage: PAGE,
    ...(!asksForId && { searchText: word }),
  })) {
    found.push(...items.filter((thing) => begins(thing, word)));
    pages += 1;
    if (pages < MOST_PAGES || nextCursor === undefined) continue;
    // IDs go by time: what begins with one is not among what is far older.
    if (asksForId && found.length > 0) break;
    throw usageFault(`There are too many ${which.nouns[1]} to look for ${plain(word)}.`, 'Say the whole ID.');
  }
  const exact = found.filter((thing) => isCalled(thing, word));
  return exact.length > 0 ? exact : found;
}

const SHOWN = 5;

function only(which: Kind, found: readonly Thing[], word: string): string {
  const [first, ...others] = found;
  if (!first)
    throw new Fault(`No ${which.nouns[0]} has an ID or a name that begins with ${plain(word)}.`, {
      exitCode: exitCodes.notFound,
      next: `See which there are: trunkline ${which.listing}`,
    });
  if (others.length === 0) return first.id;
  const candidates = found.slice(0, SHOWN).map(({ id, names }) => `  ${id}  ${plain(names.find(Boolean))}`.trimEnd());
  const more = found.length > SHOWN ? [`  … and ${found.length - SHOWN} more`] : [];
  throw usageFault(
    [`${plain(word)} can be each of ${found.length} ${which.nouns[1]}:`, ...candidates, ...more].join('\n'),
    'Say more of its name, or its whole ID.',
  );
}
