import type { Limiter } from '../../foundation/values/limiter.ts';
import { dueDeliveries, type EndpointKey, releaseEndpoint } from './claim-endpoints.ts';
import type { WebhookDeps } from './deps.ts';
import { disableWebhook } from './disable-webhook.ts';
import { endWaiting, giveUpDeliveries } from './mark-deliveries.ts';
import { type Sending, sendDeliveries } from './send-deliveries.ts';

/** The most that is read at once. */
const ROUND_SIZE = 1000;
/** Of each of the two hundred endpoints that a process sends to at a time. As much may still be on its way. */
const ROUND_BYTES = 1_000_000;
/** How long an endpoint is left before it is read again, where nothing more is due and answers are still waited for. */
const REST_MS = 200;
/** How long after an event a delivery is still tried: what an endpoint that is away is to get must not pile up for ever. */
const GIVE_UP_MS = 7 * 24 * 3600 * 1000;
/** How long an endpoint is left alone that could not be served by a fault of ours. */
const FAULT_MS = 5000;

/** What ends the sending of a process: after the one nothing more is sent, after the other no answer is waited for. */
export interface Ends {
  closing: AbortSignal;
  givingUp: AbortSignal;
}

/**
 * Sends to an endpoint that this server holds, until nothing is due, the endpoint wants a rest or the process closes; then
 * lets it go.
 */
export async function serveEndpoint(
  deps: WebhookDeps,
  endpoint: EndpointKey,
  { requests, ...ends }: Ends & { requests: Limiter },
): Promise<void> {
  const { database, lease, clock } = deps;
  const serverId = lease.serverId();
  const isOurs = () => !ends.closing.aborted && lease.isHeld() && lease.serverId() === serverId;
  const sending = sendDeliveries(deps, endpoint, { isOurs, givingUp: ends.givingUp, requests });
  let hasFailed = true;
  try {
    await sendAll(deps, endpoint, serverId, sending).finally(sending.settle);
    const wish = sending.wish();
    if (wish?.isGone)
      await database.inEngine((tx) => disableWebhook(tx, endpoint, { reason: 'gone', url: wish.url }, clock.now()));
    hasFailed = false;
  } finally {
    const { url = null, restMs = 0 } = hasFailed ? { restMs: FAULT_MS } : (sending.wish() ?? {});
    const restingUntil = restMs > 0 ? new Date(clock.now().getTime() + restMs) : null;
    await database.inHotLoop((tx) => releaseEndpoint(tx, endpoint, { serverId, restingUntil, url }));
  }
}

/** Reads what is due and has it sent. The next is read while the last is still on its way. */
async function sendAll(
  { database, clock }: WebhookDeps,
  endpoint: EndpointKey,
  serverId: string,
  sending: Sending,
): Promise<void> {
  while (sending.goesOn()) {
    const busy = sending.busy();
    const terms = { serverId, busy, now: clock.now(), limit: ROUND_SIZE, limitBytes: ROUND_BYTES };
    const found = await database.inHotLoop((tx) => dueDeliveries(tx, endpoint, terms));
    if (!found) return;
    const { webhook, due } = found;
    const { ending_before: before } = webhook;
    const old = due.filter((each) => each.created_at.getTime() < terms.now.getTime() - GIVE_UP_MS);
    if (before) {
      await sending.settle();
      await database.inHotLoop((tx) => endWaiting(tx, endpoint, { before, limit: ROUND_SIZE }));
    } else if (old.length > 0) await database.inHotLoop((tx) => giveUpDeliveries(tx, endpoint, old));
    else if (due.length > 0) await sending.send(webhook, due);
    else if (busy.length > 0) await sending.settled(REST_MS);
    else return;
  }
}
