import { setTimeout as sleep } from 'node:timers/promises';
import { traceparentOf, tracer } from '../../foundation/observe/tracing.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import type { Limiter } from '../../foundation/values/limiter.ts';
import { spread } from '../../foundation/values/spread.ts';
import type { DueDelivery, EndpointKey } from './claim-endpoints.ts';
import type { WebhookDeps } from './deps.ts';
import { openLanes } from './lanes.ts';
import { markDeliveries, type TriedDelivery } from './mark-deliveries.ts';
import { nextAttemptAt } from './retry-schedule.ts';
import { spanOfTry, traceTry } from './trace-delivery.ts';
import { createSigner, type Sign, TRY_MS, tryDelivery } from './try-delivery.ts';
import { secretsOf, type WebhookRow } from './webhook.ts';
import { heed, type Wish } from './wish.ts';

/** How many requests one endpoint gets at a time, and before it has given its first answer. */
const AT_ONCE = 32;
const FIRST_AT_ONCE = 4;
/** After which an endpoint is read anew: it may have been disabled, deleted or changed. */
const ROUND_MS = 1000;
/** How long results are gathered before they are written as a set. */
const GATHER_MS = 20;

/** What is being sent to one endpoint. */
export interface Sending {
  /** Resources to leave alone: of them something is to be sent, on its way, or not yet noted. */
  busy(): string[];
  /** Whether more may be sent. Once not, not any more: what was left unsent counts as busy. */
  goesOn(): boolean;
  /** Sends what is due, and resolves when there is room for more. */
  send(webhook: WebhookRow, due: DueDelivery[]): Promise<void>;
  /** Waits until nothing is busy, at most so many milliseconds. */
  settled(mostMs: number): Promise<void>;
  /** Begins nothing more of what it was given, waits for what is on its way, and writes what came of it. */
  settle(): Promise<void>;
  wish(): Wish | undefined;
}

/**
 * Sends to one endpoint: the events of one resource one after another, those of others side by side. What came of them is
 * written meanwhile; once that has failed, nothing more is sent or written, and `settled` and `settle` throw why.
 * @param isOurs whether this server may begin to send another
 * @param givingUp after which no answer is waited for
 * @param requests all that this process has under way, by workspace
 */
export function sendDeliveries(
  deps: WebhookDeps,
  endpoint: EndpointKey,
  { isOurs, givingUp, requests }: { isOurs: () => boolean; givingUp: AbortSignal; requests: Limiter },
): Sending {
  const busy = new Set<string>();
  /** Names what it wants to send among all requests. */
  const own = {};
  let target: Target;
  let wish: Wish | undefined;
  let fault: unknown;
  let hasStopped = false;

  const goesOn = () => {
    hasStopped ||= !isOurs() || wish !== undefined || fault !== undefined;
    return !hasStopped;
  };

  const mark = coalesce(
    async (results: (TriedDelivery & { isLast: boolean })[]) => {
      if (fault !== undefined) return;
      try {
        await deps.database.inHotLoop((tx) => markDeliveries(tx, endpoint, results));
        for (const { delivery, isLast } of results) if (isLast) busy.delete(delivery.order_key);
      } catch (error) {
        fault = error;
      }
    },
    { ms: GATHER_MS },
  );

  const sendInOrder = async (same: DueDelivery[]): Promise<void> => {
    for (const delivery of same) {
      const sent = await requests(
        endpoint.workspaceId,
        // What was given up counts as not tried.
        async () => (goesOn() ? sendOne(deps, target, delivery, givingUp).catch(() => undefined) : undefined),
        own,
      );
      if (!sent) return;
      if (sent.tried.statusCode !== undefined) lanes.widen(AT_ONCE);
      wish = heed(wish, sent.url, sent.tried);
      // Later events of the resource wait for one that is tried again.
      const isLast = sent.nextAttemptAt !== undefined || delivery === same.at(-1);
      void mark({ ...sent, isLast });
      if (isLast) return;
    }
  };

  const lanes = openLanes(FIRST_AT_ONCE, sendInOrder);

  /** Leaves what has not begun; it is read again. */
  const drop = () => {
    for (const same of lanes.drop()) busy.delete(same[0]!.order_key);
  };

  const allWritten = async () => {
    await lanes.idle();
    await mark.idle();
    if (fault !== undefined) throw fault;
  };

  return {
    busy: () => [...busy],
    goesOn,
    send: async (webhook, due) => {
      target = {
        workspaceId: endpoint.workspaceId,
        url: webhook.url,
        sign: createSigner(secretsOf(webhook, deps.secrets, deps.clock.now())),
      };
      const groups = byResource(due);
      for (const same of groups) busy.add(same[0]!.order_key);
      await Promise.race([lanes.add(groups), sleep(ROUND_MS, undefined, { ref: false })]);
      if (lanes.waiting() > groups.length / 2) drop();
    },
    settled: (mostMs) => Promise.race([allWritten(), sleep(mostMs)]),
    settle: async () => {
      drop();
      // It would wait until other endpoints of its workspace leave it room, only to find that it isn't wanted.
      requests.drop(own);
      await allWritten();
      busy.clear();
    },
    wish: () => wish,
  };
}

/** Where deliveries go. */
interface Target {
  workspaceId: string;
  url: string;
  sign: Sign;
}

/** Tries a delivery once, and says where, and when it is tried again, if it is. Throws only where it was given up. */
async function sendOne(
  { send, clock, metrics }: WebhookDeps,
  { workspaceId, url, sign }: Target,
  delivery: DueDelivery,
  givingUp: AbortSignal,
): Promise<TriedDelivery & { url: string }> {
  const message = { eventId: delivery.event_id, payload: delivery.payload };
  const span = tracer && spanOfTry(delivery);
  const signed: Sign = span ? (given) => ({ ...sign(given), traceparent: traceparentOf(span) }) : sign;
  const terms = { workspaceId, sign: signed, timeoutMs: TRY_MS, now: clock.now(), signal: givingUp };
  const tried = await tryDelivery(send, url, message, terms);
  metrics.tried(tried.verdict);
  if (tracer && span) traceTry(tracer, span, tried);
  const at = clock.now();
  const isTriedAgain = tried.verdict === 'failed';
  const attempts = delivery.attempts + 1;
  const chance = spread(delivery.event_id, url, attempts);
  const next = isTriedAgain ? nextAttemptAt(attempts, tried.restMs, at, chance) : undefined;
  return { delivery, url, tried, at, nextAttemptAt: next };
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
