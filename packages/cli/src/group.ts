import type { TrunklineClient } from '@trunkline/client';
import type { Command } from 'commander';
import { connect, loginOf } from './connect.ts';
import { usageFault } from './faults.ts';
import { addFlags, DATA_FLAG, type Flags, given, number, type Options, readData } from './flags.ts';
import { idOf, kindOfArgument, namedId, wholeId, withIds } from './ids.ts';
import type { Io } from './io.ts';
import { createScreen, type Screen } from './screen.ts';
import type { Column } from './table.ts';

export type Client = TrunklineClient;

/** What a command has. */
export interface Context {
  io: Io;
  screen: Screen;
  client: Client;
  options: Options;
}

type Act = (context: Context, ...words: string[]) => Promise<void>;

interface About {
  /** The command with its arguments, such as `show <id>`. */
  usage: string;
  says: string;
  /** What follows `trunkline`. */
  example: string;
}

/** A listing of the client, as far as it is read here. */
interface Listing<Row> {
  pages(): AsyncIterable<{ items: Row[]; totalCount?: number; nextCursor?: string }>;
}

/** Adds a command that needs no server. */
export function localCommand(parent: Command, io: Io, about: About, act: Act): Command {
  return bareCommand(parent, about, (options, words) => {
    const screen = createScreen(io, options['json'] === true);
    return act({ io, screen, options } as Context, ...words);
  });
}

/** Adds a command that asks the server. */
export function command(parent: Command, io: Io, about: About, act: Act): Command {
  return bareCommand(parent, about, async (options, words) => {
    const screen = createScreen(io, options['json'] === true);
    const client = connect(await loginOf(io.env), io.signal);
    try {
      await act({ io, screen, client, options: await withIds(client, options) }, ...words);
    } finally {
      screen.clear();
    }
  });
}

function bareCommand(
  parent: Command,
  { usage, says, example }: About,
  act: (options: Options, words: string[]) => Promise<void>,
): Command {
  const made = parent.command(usage).description(says);
  made.addHelpText('after', `\nExample:\n  trunkline ${example}`);
  return made.action((...all: unknown[]) => {
    const words = (all.slice(0, made.registeredArguments.length) as (string | string[] | undefined)[]).flat();
    // Of an ID that isn't there, another path would be asked.
    if (words.includes('')) throw usageFault('An argument is empty.', 'Is a variable of your shell not set?');
    return act(made.optsWithGlobals(), words as string[]);
  });
}

/** Commands about things of one kind. */
export interface Group {
  add(about: About, act: Act): Command;
  list<Row, Query>(
    read: (client: Client) => (query: Query) => Listing<Row>,
    columns: readonly Column<NoInfer<Row>>[],
    flags?: Flags<NoInfer<Query>>,
  ): Command;
  /** `show <id>` and the like: one request, and its answer as a record. */
  one(usage: string, says: string, ask: (client: Client, ...words: string[]) => Promise<object>): Command;
  /** `create` and `update <id>`: a request with a body, of `--data` and flags. */
  send<Body>(
    about: About,
    flags: Flags<NoInfer<Body>>,
    ask: (client: Client, body: Body, ...words: string[]) => Promise<object>,
    /** What stands deeper in the body than flags of its fields reach. */
    shape?: (body: Options, context: Context, ...words: string[]) => Options | Promise<Options>,
  ): Command;
}

const DELETING = ['delete', 'release', 'revoke'];
/** What dials, or can't be undone. */
const ACTING = ['start', 'resume', 'stop', 'cancel', 'redial', 'end', 'skip'];

/**
 * The words of a command, with the ID where one names a thing in another way. What deletes takes nothing but the ID, and what
 * acts no beginning of a name.
 */
async function withWholeIds(client: Client, group: string, usage: string, words: readonly string[]): Promise<string[]> {
  const [verb = '', ...parameters] = usage.split(' ');
  const takes = parameters.map((parameter) => kindOfArgument(group, parameter.slice(1, -1)));
  return Promise.all(
    words.map((word, at) => {
      const kind = takes[at];
      if (!kind) return word;
      if (DELETING.includes(verb)) return wholeId(client, kind, word, `${group} ${verb}`);
      return ACTING.includes(verb) ? namedId(client, kind, word, `${group} ${verb}`) : idOf(client, kind, word);
    }),
  );
}

/** Begins a group, such as `trunkline trunks`. `example` is an ID of such a thing. */
export function group(program: Command, io: Io, name: string, says: string, example: string): Group {
  const parent = program.command(name).description(says).helpCommand(false);
  const add: Group['add'] = (about, act) =>
    command(parent, io, { ...about, example: `${name} ${about.example}` }, async (context, ...words) =>
      act(context, ...(await withWholeIds(context.client, name, about.usage, words))),
    );
  return {
    add,
    list<Row, Query>(
      read: (client: Client) => (query: Query) => Listing<Row>,
      columns: readonly Column<NoInfer<Row>>[],
      flags: Flags<NoInfer<Query>> = {},
    ) {
      const listed = add({ usage: 'list', says: `List ${name}`, example: 'list' }, async (context) => {
        const query = given(context.options, flags);
        await showList<Row>(context, (perPage) => read(context.client)({ ...query, perPage } as never), columns);
      });
      addFlags(listed, flags);
      return listed.option('--limit <n>', 'how many at most', number, 50);
    },
    one(usage, says, ask) {
      const words = usage.includes('<') ? [usage.split(' ')[0], example].join(' ') : usage;
      return add({ usage, says, example: words }, async ({ client, screen }, ...given) => {
        screen.record(await ask(client, ...given));
      });
    },
    send(about, flags, ask, shape = (body) => body) {
      const made = add(about, async (context, ...words) => {
        const { client, screen, io, options } = context;
        const body = await shape(
          { ...(await readData(io, options['data'])), ...given(options, flags) },
          context,
          ...words,
        );
        screen.record(await ask(client, body as never, ...words));
      });
      addFlags(made, flags);
      return made.option(...DATA_FLAG);
    },
  };
}

const LARGEST_PAGE = 100;

/** Shows so many of a listing as `--limit` says. */
export async function showList<Row>(
  { screen, options }: Pick<Context, 'screen' | 'options'>,
  read: (perPage: number) => Listing<Row>,
  columns: readonly Column<NoInfer<Row>>[],
): Promise<void> {
  const limit = Number(options['limit']);
  if (!(limit >= 1)) throw usageFault('--limit takes a number from 1 on.');
  const rows: Row[] = [];
  for await (const { items, totalCount, nextCursor } of read(Math.min(limit, LARGEST_PAGE)).pages()) {
    rows.push(...items);
    const isMore = rows.length > limit || nextCursor !== undefined;
    if (rows.length >= limit) return screen.table(rows.slice(0, limit), columns, isMore, totalCount);
  }
  screen.table(rows, columns);
}
