import type { Command } from 'commander';
import type { First } from '../client-types.ts';
import { Interrupted, usageFault } from '../faults.ts';
import { addFlags, type Flags, number } from '../flags.ts';
import { type Context, command } from '../group.ts';
import type { Io } from '../io.ts';
import { plain } from '../text.ts';

type Query = NonNullable<First<'events', 'list'>>;
type Page = Awaited<ReturnType<Context['client']['events']['list']>>;

const LARGEST_PAGE = 100;

const flags: Flags<Query> = {
  after: ['text', 'what came after this place; or latest'],
  type: ['list', 'such as call.ended, campaign.*'],
  resourceId: ['text', 'of this call, campaign or other ID'],
};

export function addEvents(program: Command, io: Io): void {
  const about = {
    usage: 'events',
    says: 'What happened in the workspace',
    example: 'events --follow --type campaign.*',
  };
  const events = command(program, io, about, (context) =>
    context.options['follow'] ? follow(context) : list(context),
  );
  events.option('--follow', 'show them as they happen, until Ctrl-C');
  addFlags(events, flags);
  events.option('--limit <n>', 'how many at most, the oldest first', number, 50);
}

const wantedOf = ({ options: { type, resourceId } }: Context): Query => ({
  ...(type !== undefined && { type: type as NonNullable<Query['type']> }),
  ...(resourceId !== undefined && { resourceId: String(resourceId) }),
});

/** The command line that goes on behind a place, with the same filters. */
const commandFrom = ({ options: { follow, type, resourceId } }: Context, place: string | undefined): string => {
  const words = [
    ...(follow ? ['--follow'] : []),
    ...(place === undefined || place === 'latest' ? [] : [`--after ${place}`]),
    ...(type === undefined ? [] : [`--type ${type}`]),
    ...(resourceId === undefined ? [] : [`--resource-id ${resourceId}`]),
  ];
  return ['trunkline events', ...words].join(' ');
};

async function list(context: Context): Promise<void> {
  const { client, screen, options } = context;
  const limit = Number(options['limit']);
  if (!Number.isInteger(limit) || limit < 1) throw usageFault('--limit takes a whole number from 1 on.');
  const items: Page['items'] = [];
  let after = options['after'] as string | undefined;
  for (let hasMore = true; hasMore && items.length < limit; ) {
    const place = after === undefined ? {} : { after };
    const page = await client.events.list({
      ...{ ...wantedOf(context), ...place },
      limit: Math.min(limit - items.length, LARGEST_PAGE),
    });
    items.push(...page.items);
    ({ after, hasMore } = page);
  }
  screen.table(items, [
    ['place', 'after'],
    ['when', ({ event }) => event.timestamp],
    ['type', ({ event }) => event.type],
    ['of', 'resourceId'],
  ]);
  screen.say(`What comes after: ${commandFrom(context, after)}`);
}

async function follow(context: Context): Promise<void> {
  const { client, io, screen, options } = context;
  let after = options['after'] as string | undefined;
  const query = { ...wantedOf(context), ...(after !== undefined && { after }) };
  try {
    for await (const item of client.events.stream({ query, signal: io.signal })) {
      const { resourceId, event } = item;
      after = item.after;
      screen.event(item, `${after}  ${plain(event.timestamp)}  ${plain(event.type)}  ${plain(resourceId)}`);
    }
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new Interrupted(`Stopped following. Again: ${commandFrom(context, after)}`);
  }
}
