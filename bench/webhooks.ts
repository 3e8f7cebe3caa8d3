import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../apps/server/src/clock.ts';
import { openLease } from '../apps/server/src/database/lease.ts';
import { createSecrets } from '../apps/server/src/database/secrets.ts';
import { newUuid, toId } from '../apps/server/src/ids.ts';
import { recordForWebhooks } from '../apps/server/src/journal/record-for-webhooks.ts';
import { createAddressGuard } from '../apps/server/src/outbound-http/address-guard.ts';
import { createOutboundHttp } from '../apps/server/src/outbound-http/guarded-request.ts';
import { startWebhookSender } from '../apps/server/src/webhooks/sender.ts';
import { newSecret, secretPlace } from '../apps/server/src/webhooks/webhook.ts';
import { seedWebhook } from '../apps/server/test/seed/webhook.ts';
import { seedWorkspace } from '../apps/server/test/seed/workspace.ts';
import { atEnd } from './at-end.ts';
import { forkServer } from './child.ts';
import { asSuperuser, log, type Postgres, settle, startPostgres } from './postgres.ts';
import { untilQuiet } from './quiet.ts';
import { inTurns, median } from './rounds.ts';
import type { Found } from './table.ts';

const ROUNDS = 5;
/** Of each turn. */
const EVENTS = 30_000;

const now = new Date('2026-11-20T09:30:00.000Z').toISOString();
/** A call that has ended, as an endpoint is told of it. */
const call = {
  roomId: toId('room', newUuid()),
  status: 'completed',
  outcome: 'answered',
  direction: 'outbound',
  simulated: false,
  fromNumber: '+14155550100',
  toNumber: '+14155550142',
  agentId: 'agent_reception',
  phoneNumberId: toId('pn', newUuid()),
  campaignId: toId('cmp', newUuid()),
  contactId: toId('cc', newUuid()),
  attempt: 1,
  variables: { first_name: 'Ada', appointment: '24 November, 10:30' },
  queuedAt: now,
  dialedAt: now,
  ringingAt: now,
  answeredAt: now,
  endedAt: now,
  durationSeconds: 63.07,
  endedBy: 'callee',
};

/** Something that delivers so many events, and tells how many it did a second. */
type Turn = () => Promise<number>;

/** The peer, in a process of its own: what it has compiled and left to be collected is not ours to bear. */
async function barePosts(url: string): Promise<Turn> {
  const peer = await forkServer(new URL('./webhooks-peer.ts', import.meta.url), { url });
  return () =>
    peer.ask<number>({ events: EVENTS, body: JSON.stringify({ type: 'call.ended', timestamp: now, data: call }) });
}

/** From events that are written to deliveries that are: handed over, sent, answered, noted. */
async function trunkline(postgres: Postgres, url: string): Promise<Turn> {
  const { database, connectionString } = await postgres.database();
  const secrets = createSecrets(randomBytes(32));
  const [workspaceId, id] = [await seedWorkspace(database), newUuid()];
  const secret = secrets.encrypt(newSecret(), secretPlace(workspaceId, id));
  const _webhookId = await seedWebhook(database, workspaceId, ['call.ended'], { id, url, secret });
  const guard = createAddressGuard({ networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] });
  const outbound = createOutboundHttp(guard);
  atEnd(() => outbound.close());
  const lease = await openLease({ database, seconds: 10, log });
  atEnd(() => lease.release());
  let tried = 0;
  const metrics = {
    tried: () => {
      tried += 1;
    },
    asked: () => {},
    slots: () => {},
  };
  const deps = { database, clock: systemClock, log, secrets, lease, guard, send: outbound.send, metrics };

  return async () => {
    for (let written = 0; written < EVENTS; written += 1000) {
      const events = Array.from({ length: 1000 }, () => ({ resourceId: newUuid(), revision: 3 }));
      await database.inEngine((tx) =>
        recordForWebhooks(
          tx,
          'call.ended',
          events.map((event) => ({ ...event, workspaceId, data: call, at: new Date() })),
        ),
      );
    }
    await settle(connectionString);
    tried = 0;
    const from = performance.now();
    const sender = startWebhookSender(deps);
    while (tried < EVENTS) await sleep(5);
    // Notes what came of the last ones.
    await sender.close();
    const seconds = (performance.now() - from) / 1000;
    const { open } = await asSuperuser<{ open: number }>(
      connectionString,
      "select count(*)::int as open from webhook_deliveries where status <> 'delivered' or attempts <> 1",
    );
    if (open > 0) throw new Error(`${open} events were not delivered, or more than once.`);
    return EVENTS / seconds;
  };
}

/** Webhook deliveries against bare signed POSTs to the same receiver. */
export async function benchWebhooks(): Promise<Found> {
  const postgres = await startPostgres();
  const { port } = await forkServer(new URL('./webhooks-receiver.ts', import.meta.url), {});
  const url = `http://127.0.0.1:${port}/`;
  const turns = { peer: await barePosts(url), ours: await trunkline(postgres, url) };
  const rates = await inTurns(['peer', 'ours'], ROUNDS, async (name) => {
    await untilQuiet();
    const rate = await turns[name]();
    console.error(`  ${name}: ${Math.round(rate)} /s`);
    return rate;
  });
  return {
    rows: [
      {
        what: 'webhook deliveries',
        ours: median(rates.ours),
        peer: 'signed POSTs by undici',
        theirs: median(rates.peer),
        unit: '/s',
        aim: '≥ 0.5',
      },
    ],
  };
}
