// One of the measured servers: the edge with the whole contract, bare Express, or Fastify with schemas.
import { createServer, type Server } from 'node:http';
import express from 'express';
import { fastify } from 'fastify';
import { createApp, loadContract } from '../../apps/server/src/foundation/http/app.ts';
import type { Handlers } from '../../apps/server/src/foundation/http/handler.ts';
import { createMetrics } from '../../apps/server/src/foundation/http/metrics.ts';
import { createOpenStreams } from '../../apps/server/src/foundation/http/open-streams.ts';
import { createRateLimit } from '../../apps/server/src/foundation/http/rate-limit.ts';
import { serve, settingsOf } from '../child.ts';
import { log } from '../postgres.ts';
import { added, PATH, page } from './answers.ts';
import { keyCache } from './key.ts';
import { addSchema, listSchema } from './schemas.ts';

export type Kind = 'trunkline' | 'express' | 'fastify';

const { kind, key } = settingsOf<{ kind: Kind; key: string }>();

const handlers: Pick<Handlers, 'listDoNotCall' | 'addDoNotCall'> = {
  listDoNotCall: async () => ({ status: 200, body: page }),
  addDoNotCall: async ({ body }) => ({ status: 200, body: added(body) }),
};

const servers: Record<Kind, () => Promise<Server>> = {
  trunkline: async () =>
    createServer(
      await createApp({
        contract: loadContract(),
        handlers,
        authenticate: keyCache(key),
        authenticateSession: () => undefined,
        openStream: () => undefined,
        publicUrl: 'http://localhost',
        corsOrigins: [],
        rateLimit: createRateLimit({ key: 10_000_000, workspace: 10_000_000 }),
        streams: createOpenStreams(createMetrics().registry),
        metrics: createMetrics(),
        log,
        validateResponses: 'sampled',
        trustProxy: false,
        draining: new AbortController().signal,
        notReady: async () => undefined,
        warnings: async () => [],
      }),
    ),
  express: async () => {
    const app = express();
    app.get(PATH, (_request, response) => void response.json(page));
    app.post(PATH, express.json(), (request, response) => void response.json(added(request.body)));
    return createServer(app);
  },
  fastify: async () => {
    const app = fastify();
    const authenticate = keyCache(key);
    app.addHook('onRequest', async (request, reply) => {
      if (!authenticate(String(request.headers['x-api-key']))) return reply.code(401).send({ code: 'unauthorized' });
    });
    app.get(PATH, { schema: listSchema }, async () => page);
    app.post<{ Body: { phoneNumbers: string[] } }>(PATH, { schema: addSchema }, async ({ body }) => added(body));
    await app.ready();
    return app.server;
  },
};

await serve(await servers[kind]());
