import type { Command } from 'commander';
import type { First, Second } from '../client-types.ts';
import { loginOf, originOf } from '../connect.ts';
import { Fault } from '../faults.ts';
import { type Options, readData } from '../flags.ts';
import { type Client, type Context, group } from '../group.ts';
import type { Io } from '../io.ts';
import { openPage } from '../open-page.ts';

const EXAMPLE = 'agent_…';
const URL_FLAG = ['--url <url>', 'its WebSocket (wss://), or what is asked for it (https://)'] as const;

const flags = {
  name: ['text', 'what to call it'],
  maxConcurrentCalls: ['number', 'calls at once'],
  maxCallSeconds: ['number', 'longest call'],
  silenceSeconds: ['number', 'silence that ends a call'],
  knowledgeBaseIds: ['list', 'what it may search'],
  recording: ['switch', 'record its calls'],
} as const;

/** `--url` stands in the connection. */
const withConnection =
  (more: object) =>
  (body: Options, { options }: Context): Options =>
    options['url']
      ? { ...body, connection: { ...more, ...(body['connection'] as object), url: options['url'] } }
      : body;

export function addAgents(program: Command, io: Io): void {
  const agents = group(program, io, 'agents', 'Voice agents that take calls', EXAMPLE);
  agents.list(
    (client: Client) => client.agents.list,
    [
      ['id', 'id'],
      ['name', 'name'],
      ['speaks', ({ connection }) => ('url' in connection ? connection.url : connection.type)],
      ['at once', 'maxConcurrentCalls'],
    ],
    { searchText: ['text', 'part of the name'] },
  );
  agents.one('show <id>', 'Show an agent', (client, id = '') => client.agents.get(id));
  agents
    .send(
      {
        usage: 'create',
        says: 'Make an agent; shows its secret, once',
        example: 'create --name Ada --url wss://example.com',
      },
      flags,
      (client, body: First<'agents', 'create'>) => client.agents.create(body),
      async (body, context) => ({
        ...(await readData(context.io, context.options['from'])),
        ...withConnection({ type: 'stream' })(body, context),
      }),
    )
    .option(...URL_FLAG)
    .option('--from <file>', 'an agent as JSON: see examples/agents');
  agents
    .send(
      { usage: 'update <id>', says: 'Change an agent', example: `update ${EXAMPLE} --name Ada` },
      flags,
      (client, body: Second<'agents', 'update'>, id = '') => client.agents.update(id, body),
      withConnection({}),
    )
    .option(...URL_FLAG);
  agents.one('delete <id>', 'Delete an agent', (client, id = '') => client.agents.delete(id));
  const talk = { usage: 'talk <id>', says: 'Open the page that talks to it', example: `talk ${EXAMPLE}` };
  agents
    .add(talk, async ({ client, screen, io, options }, id = '') => {
      const [agent, { url: server }] = await Promise.all([client.agents.get(id), loginOf(io.env)]);
      // Without the key: what a browser is started with can be seen by all who use this machine.
      const url = `${originOf(server)}/talk?agent=${agent.id}`;
      screen.record({ url });
      screen.say('Your browser takes the place of the telephone: enter your API key there.');
      if (options['open'] !== false && io.stdout.isTTY) openPage(url);
    })
    .option('--no-open', 'show the address alone');
  const test = { usage: 'test <id>', says: 'Whether a call would reach it', example: `test ${EXAMPLE}` };
  agents.add(test, async ({ client, screen }, id = '') => {
    const found = await client.agents.test(id);
    screen.record(found);
    if (!found.reachable) throw new Fault(found.message);
  });
}
