import { type DueDelivery, dueDeliveries, type EndpointKey, releaseEndpoint } from './claim-endpoints.ts';
import type { WebhookDeps } from './deps.ts';
import { disableWebhook } from './disable-webhook.ts';
import { gatherMarks } from './gather-marks.ts';
import { endWaiting, giveUpDeliveries, markDeliveries, type TriedDelivery } from './mark-deliveries.ts';
import { nextAttemptAt } from './retry-schedule.ts';
import { createSigner, TRY_MS, tryDelivery } from './try-delivery.ts';
import { secretsOf, type WebhookRow } from './webhook.ts';

/** The most that is read at once. */
const ROUND_SIZE = 1000;
/** Of each of the hundred endpoints that a process sends to at a time. */
const ROUND_BYTES = 4_000_000;
/** After which an endpoint is read anew: it may have been disabled, deleted or changed. */
const ROUND_MS = 1000;
/** How many requests one endpoint gets at a time. */
const AT_ONCE = 32;

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
export async function serveEndpoint(deps: WebhookDeps, endpoint: EndpointKey, ends: Ends): Promise<void> {
  const { database, lease, clock } = deps;
  const serverId = lease.serverId();
  const isOurs = () => !ends.closing.aborted && lease.isHeld() && lease.serverId() === serverId;
  let restMs = 0;
  let url: string | null = null;
  try {
    while (isOurs() && restMs === 0) {
      const terms = { serverId, now: clock.now(), limit: ROUND_SIZE, limitBytes: ROUND_BYTES };
      const found = await database.inEngine((tx) => dueDeliveries(tx, endpoint, terms));
      if (!found) return;
      const { webhook, due } = found;
      ({ url } = webhook);
      const old = due.filter((each) => each.created_at.getTime() < terms.now.getTime() - GIVE_UP_MS);
      if (webhook.ending_before) await endDisabled(deps, endpoint, webhook.ending_before);
      else if (due.length === 0) return;
      else if (old.length > 0) await database.inEngine((tx) => giveUpDeliveries(tx, endpoint, old));
      else restMs = await sendRound(deps, webhook, due, { isOurs, givingUp: ends.givingUp });
    }
  } catch (error) {
    restMs = FAULT_MS;
    throw error;
  } finally {
    const restingUntil = restMs > 0 ? new Date(clock.now().getTime() + restMs) : null;
    await database.inEngine((tx) => releaseEndpoint(tx, endpoint, { serverId, restingUntil, url }));
  }
}

/** Ends what waited when the endpoint was disabled, a set at a time. */
async function endDisabled({ database }: WebhookDeps, endpoint: EndpointKey, before: Date): Promise<void> {
  await database.inEngine((tx) => endWaiting(tx, endpoint, { before, limit: ROUND_SIZE }));
}

/**
 * Sends what is due, the events of one resource one after another, and writes what came of it. Returns for how many
 * milliseconds the endpoint should be left alone.
 */
async function sendRound(
  deps: WebhookDeps,
  webhook: WebhookRow,
  due: DueDelivery[],
  { isOurs, givingUp }: { isOurs: () => boolean; givingUp: AbortSignal },
): Promise<number> {
  const { database, clock, send, metrics } = deps;
  const endpoint = { workspaceId: webhook.workspace_id, webhookId: webhook.id };
  const sign = createSigner(secretsOf(webhook, deps.secrets, clock.now()));
  const inOrder = byResource(due);
  const endsAt = performance.now() + ROUND_MS;
  const marks = gatherMarks<TriedDelivery>((tried) => writeTried(deps, endpoint, tried));
  let restMs = 0;
  let isGone = false;
  const goesOn = () => isOurs() && !isGone && restMs === 0 && performance.now() < endsAt && !marks.hasFailed();

  const sendOne = async (delivery: DueDelivery): Promise<TriedDelivery> => {
    const message = { eventId: delivery.event_id, payload: delivery.payload };
    const terms = { sign, timeoutMs: TRY_MS, now: clock.now(), signal: givingUp };
    const tried = await tryDelivery(send, webhook.url, message, terms);
    const at = clock.now();
    const isTriedAgain = tried.verdict === 'failed';
    const next = isTriedAgain ? nextAttemptAt(delivery.attempts + 1, tried.restMs, at, Math.random()) : undefined;
    return { delivery, tried, at, nextAttemptAt: next };
  };
  const sendSome = async () => {
    for (let same = inOrder.shift(); same; same = inOrder.shift()) {
      for (const delivery of same) {
        if (!goesOn()) return;
        // What was given up counts as not tried.
        const result = await sendOne(delivery).catch(() => undefined);
        if (!result) return;
        marks.add(result);
        metrics.tried(result.tried.verdict);
        restMs = Math.max(restMs, result.tried.restMs);
        isGone ||= result.tried.verdict === 'gone';
        // Later events of the resource wait.
        if (result.nextAttemptAt) break;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendSome));
  await marks.end();
  if (isGone)
    await database.inEngine((tx) => disableWebhook(tx, endpoint, { reason: 'gone', url: webhook.url }, clock.now()));
  return restMs;
}

/** The deliveries of each resource, in their order. */
function byResource(due: DueDelivery[]): DueDelivery[][] {
  const groups = new Map<string, DueDelivery[]>();
  for (const delivery of due) {
    const group = groups.get(delivery.order_key);
    if (group) group.push(delivery);
    else groups.set(delivery.order_key, [delivery]);
  }
  return [...groups.values()];
}

const writeTried = ({ database }: WebhookDeps, endpoint: EndpointKey, tried: TriedDelivery[]): Promise<void> =>
  database.inEngine((tx) => markDeliveries(tx, endpoint, tried));
