import type { Command } from 'commander';
import type { First, Second } from '../client-types.ts';
import { Fault } from '../faults.ts';
import { number } from '../flags.ts';
import { type Client, group, showList } from '../group.ts';
import type { Io } from '../io.ts';
import { listen } from './listen.ts';

const EXAMPLE = 'whk_…';

export function addWebhooks(program: Command, io: Io): void {
  const webhooks = group(program, io, 'webhooks', 'URLs that are told what happens', EXAMPLE);
  webhooks.list(
    (client: Client) => client.webhooks.list,
    [
      ['id', 'id'],
      ['status', 'status'],
      ['url', 'url'],
      ['events', 'eventTypes'],
    ],
  );
  webhooks.one('show <id>', 'Show an endpoint', (client, id = '') => client.webhooks.get(id));
  const flags = {
    url: ['text', 'where events go'],
    eventTypes: ['list', 'such as call.ended, campaign.*'],
    description: ['text', 'what it is for'],
    tags: ['list', 'only what bears one of these'],
  } as const;
  webhooks.send(
    {
      usage: 'create',
      says: 'Make an endpoint; shows its secret, once',
      example: 'create --data webhook.json',
    },
    flags,
    (client, body: First<'webhooks', 'create'>) => client.webhooks.create(body),
  );
  webhooks.send(
    { usage: 'update <id>', says: 'Change an endpoint', example: `update ${EXAMPLE} --status enabled` },
    { ...flags, status: ['text', 'enabled or disabled'] },
    (client, body: Second<'webhooks', 'update'>, id = '') => client.webhooks.update(id, body),
  );
  const test = { usage: 'test <id>', says: 'Send it a test event', example: `test ${EXAMPLE}` };
  webhooks.add(test, async ({ client, screen }, id = '') => {
    const delivery = await client.webhooks.test(id);
    screen.record(delivery);
    if (delivery.status !== 'delivered')
      throw new Fault(delivery.lastError ?? `The endpoint answered ${delivery.lastStatusCode}.`);
  });
  const deliveries = {
    usage: 'deliveries <id>',
    says: 'What was sent, and how it went',
    example: `deliveries ${EXAMPLE}`,
  };
  webhooks
    .add(deliveries, async (context, id = '') => {
      await showList(context, (perPage: number) => context.client.webhooks.listDeliveries(id, { perPage }), [
        ['id', 'id'],
        ['status', 'status'],
        ['event', 'eventType'],
        ['answer', 'lastStatusCode'],
        ['error', 'lastError'],
      ]);
    })
    .option('--limit <n>', 'how many at most', number, 50);
  webhooks.one('delete <id>', 'Delete an endpoint', (client, id = '') => client.webhooks.delete(id));
  const listening = {
    usage: 'listen',
    says: 'Show events as they happen, and forward them to a URL here, until Ctrl-C',
    example: 'listen --forward-to http://localhost:80',
  };
  webhooks
    .add(listening, listen)
    .option('--forward-to <url>', 'where each is sent on, signed')
    .option('--events <a,b>', 'which (all)')
    .option('--public-url <url>', "a tunnel's, where the server is elsewhere")
    .option('--port <n>', 'port to listen on here (any)', number);
}
