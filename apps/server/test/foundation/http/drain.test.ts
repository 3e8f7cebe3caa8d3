import { expect, test } from 'vitest';
import type { Handlers } from '../../../src/foundation/http/handler.ts';
import { startTestServer } from '../../server.ts';

const list = '/v1/calls/do-not-call';
const stream = '/v1/calls/campaigns/cmp_01932f3c8a7e7bd0a1b2c3d4e5f60718/events';

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

test('a server that stops answers what runs, tells streams to come back, and takes nothing new', async () => {
  const [entered, mayEnd] = [gate(), gate()];
  const handlers: Partial<Handlers> = {
    listDoNotCall: async () => {
      entered.open();
      await mayEnd.opened;
      const page = { items: [], page: 1, perPage: 20, totalCount: 0 };
      return { status: 200, body: { ...page, column: 'created_at', order: 'desc' } };
    },
    streamCampaignEvents: async () => ({
      status: 200,
      stream: (stream) => {
        setImmediate(() => stream.send({ id: '1', event: 'campaign.running', data: {} }));
        return { onRoom: () => undefined, onEnd: () => undefined };
      },
    }),
  };
  const server = await startTestServer({ handlers });
  const headers = { 'X-API-Key': server.apiKey };
  const open = await fetch(server.url + stream, { headers });
  const running = fetch(server.url + list, { headers });
  await entered.opened;
  const stopped = server.stop();
  await expect(fetch(`${server.url}/livez`, { headers: { Connection: 'close' } })).rejects.toThrow();
  mayEnd.open();
  expect((await running).status).toBe(200);
  expect(await open.text()).toMatch(/retry: \d+\n\n$/);
  // A connection that is kept alive lives longer than a test may.
  await stopped;
});
