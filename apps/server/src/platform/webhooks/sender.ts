import { limiter } from '../../foundation/values/limiter.ts';
import { every } from '../jobs/every.ts';
import { whileQuiet } from '../jobs/quiet.ts';
import { claimEndpoints, type EndpointKey, firstToSend } from './claim-endpoints.ts';
import type { WebhookDeps } from './deps.ts';
import { handOverEvents } from './hand-over-events.ts';
import { serveEndpoint } from './serve-endpoint.ts';

/** How long the loop rests when it found nothing to do. */
const REST_MS = 200;
/**
 * How many endpoints this process sends to at a time, how many of them may have failed before, and how many requests are
 * under way to all of them. One workspace alone has half of each.
 */
const AT_ONCE = 200;
const RESTED_AT_ONCE = 100;
const REQUESTS_AT_ONCE = 512;
/** How long endpoints that are just being sent to have for their answers when the process closes. */
const GRACE_MS = 3000;

/**
 * Begins to send events to webhook endpoints from this process. `close` ends it: what is on its way comes to its end, and
 * the rest waits for another server.
 */
export function startWebhookSender(deps: WebhookDeps): { close(): Promise<void> } {
  const { database, lease, clock, log } = deps;
  const serving = new Map<string, EndpointKey & { end: Promise<void>; rested: boolean }>();
  const requests = limiter(REQUESTS_AT_ONCE);
  deps.metrics.slots('webhook_requests', requests);
  deps.metrics.slots('webhook_endpoints', { total: AT_ONCE, underWay: () => serving.size });
  const closing = new AbortController();
  const givingUp = new AbortController();
  const terms = { closing: closing.signal, givingUp: givingUp.signal, requests };
  let lastWorkspace: string | undefined;

  const serve = (endpoint: EndpointKey, rested: boolean) => {
    const end = serveEndpoint(deps, endpoint, terms)
      .catch((error) => log.error({ err: error, ...endpoint }, 'an endpoint could not be served; it is tried again'))
      .finally(() => serving.delete(endpoint.webhookId));
    serving.set(endpoint.webhookId, { ...endpoint, end, rested });
  };

  /** Endpoints that have answered last come first: however many others hang, there is a place for them. */
  const claim = async (now: Date, rested: boolean): Promise<void> => {
    const held = [...serving.values()];
    const places = AT_ONCE - held.length;
    const sharing = rested ? held.filter((each) => each.rested) : held;
    const free = rested ? Math.min(places, RESTED_AT_ONCE - sharing.length) : places;
    if (free <= 0 || !lease.isHeld()) return;
    const wanted = { serverId: lease.serverId(), held, sharing, now, free, rested };
    for (const endpoint of await database.inHotLoop((tx) => claimEndpoints(tx, wanted))) serve(endpoint, rested);
  };

  const turn = async (): Promise<boolean> => {
    const now = clock.now();
    const { hasMore, after } = await handOverEvents(database, now, lastWorkspace);
    lastWorkspace = after;
    await claim(now, false);
    await claim(now, true);
    return hasMore;
  };

  const loop = every(REST_MS, turn, { name: 'webhooks', log, asleep: whileQuiet(database, firstToSend) });
  return {
    close: async () => {
      closing.abort();
      const grace = setTimeout(() => givingUp.abort(), GRACE_MS);
      await loop.close();
      await Promise.all([...serving.values()].map(({ end }) => end));
      clearTimeout(grace);
    },
  };
}
