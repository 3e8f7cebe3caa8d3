import { randomBytes } from 'node:crypto';
import { openLease } from '../../apps/server/src/foundation/database/lease.ts';
import { createSecrets } from '../../apps/server/src/foundation/database/secrets.ts';
import { createAddressGuard } from '../../apps/server/src/foundation/outbound-http/address-guard.ts';
import { createOutboundHttp } from '../../apps/server/src/foundation/outbound-http/guarded-request.ts';
import { systemClock } from '../../apps/server/src/foundation/values/clock.ts';
import { newUuid, toId } from '../../apps/server/src/foundation/values/ids.ts';
import { recordForWebhooks } from '../../apps/server/src/platform/journal/record-for-webhooks.ts';
import { startWebhookSender } from '../../apps/server/src/platform/webhooks/sender.ts';
import { newSecret, secretPlace } from '../../apps/server/src/platform/webhooks/webhook.ts';
import { seedWebhook } from '../../apps/server/test/seed/webhook.ts';
import { seedWorkspace } from '../../apps/server/test/seed/workspace.ts';
import { atEnd } from '../at-end.ts';
import { forkServer } from '../child.ts';
import { asSuperuser, log, type Postgres } from '../postgres.ts';

export const now = new Date('2026-11-20T09:30:00.000Z').toISOString();
/** A call that has ended, as an endpoint is told of it. */
export const call = {
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

/** Starts what takes all that is sent. @returns its URL, and what ends it */
export async function startReceiver(answerAfterMs = 0) {
  const { port, end } = await forkServer(new URL('./receiver.ts', import.meta.url), { answerAfterMs });
  return { url: `http://127.0.0.1:${port}/`, end };
}

/** An endpoint that wants to know of calls that end, in a database of its own. */
export async function openEndpoint(postgres: Postgres, url: string) {
  const { database, connectionString } = await postgres.database();
  const secrets = createSecrets(randomBytes(32));
  const [workspaceId, id] = [await seedWorkspace(database), newUuid()];
  const secret = secrets.encrypt(newSecret(), secretPlace(workspaceId, id));
  await seedWebhook(database, workspaceId, ['call.ended'], { id, url, secret });
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

  return {
    connectionString,
    /** Writes so many thousand events. */
    write: async (thousands: number): Promise<void> => {
      for (let written = 0; written < thousands; written += 1) {
        const events = Array.from({ length: 1000 }, () => ({ resourceId: newUuid(), revision: 3 }));
        await database.inEngine((tx) =>
          recordForWebhooks(
            tx,
            'call.ended',
            events.map((event) => ({ ...event, workspaceId, data: call, at: new Date() })),
          ),
        );
      }
    },
    /** How many deliveries were tried so far. */
    tried: () => tried,
    startSender: () => startWebhookSender(deps),
    /** Throws if there is an event that was not delivered, or more than once. */
    refuseUnlessDelivered: async (): Promise<void> => {
      const { open } = await asSuperuser<{ open: number }>(
        connectionString,
        "select count(*)::int as open from webhook_deliveries where status <> 'delivered' or attempts <> 1",
      );
      if (open > 0) throw new Error(`${open} events were not delivered, or more than once.`);
    },
  };
}

export type Endpoint = Awaited<ReturnType<typeof openEndpoint>>;
