import { setTimeout as sleep } from 'node:timers/promises';
import { coalesce } from '../coalesce.ts';
import { type Limiter, limiter } from '../limiter.ts';
import { traceparentOf, tracer } from '../tracing.ts';
import type { DueDelivery, EndpointKey } from './claim-endpoints.ts';
import type { WebhookDeps } from './deps.ts';
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
  let most = FIRST_AT_ONCE;
  const limit: Limiter = limiter(AT_ONCE, () => limit.underWay() < most);
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
      if (fault !== undefined) throw fault;
      await deps.database.inHotLoop((tx) => markDeliveries(tx, endpoint, results));
      for (const { delivery, isLast } of results) if (isLast) busy.delete(delivery.order_key);
    },
    { ms: GATHER_MS },
  );

  const sendInOrder = async (same: DueDelivery[]): Promise<void> => {
    for (const delivery of same) {
      const sent = await requests(
        endpoint.workspaceId,
        async () => {
          if (!goesOn()) return undefined;
          const { url } = target;
          // What was given up counts as not tried.
          const result = await sendOne(deps, target, delivery, givingUp).catch(() => undefined);
          return result && { url, result };
        },
        limit,
      );
      if (!sent) return;
      const { url, result } = sent;
      if (result.tried.statusCode !== undefined) most = AT_ONCE;
      wish = heed(wish, url, result.tried);
      // Later events of the resource wait for one that is tried again.
      const isLast = result.nextAttemptAt !== undefined || delivery === same.at(-1);
      mark({ ...result, isLast }).catch((error) => {
        fault = error;
      });
      if (isLast) return;
    }
  };

  /** Sends the deliveries of one resource once there is room for it. Dropped before that, they are read again. */
  const begin = async (same: DueDelivery[], onBegun: () => void): Promise<void> => {
    const resource = same[0]!.order_key;
    busy.add(resource);
    const hasBegun = await limit(resource, async () => {
      onBegun();
      await sendInOrder(same);
      return true;
    });
    if (!hasBegun) busy.delete(resource);
  };

  const allWritten = async () => {
    await limit.idle();
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
      const half = Math.ceil(groups.length / 2);
      const halfBegun = new Promise<void>((resolve) => {
        for (const [at, same] of groups.entries()) void begin(same, at + 1 === half ? resolve : () => {});
      });
      await Promise.race([halfBegun, sleep(ROUND_MS, undefined, { ref: false })]);
      if (limit.waiting() > groups.length / 2) limit.drop();
    },
    settled: (mostMs) => Promise.race([allWritten(), sleep(mostMs)]),
    settle: async () => {
      limit.drop();
      // It would wait until other endpoints of its workspace leave it room, only to find that it isn't wanted.
      requests.drop(limit);
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

/** Tries a delivery once, and says when it is tried again, if it is. Throws only where it was given up. */
async function sendOne(
  { send, clock, metrics }: WebhookDeps,
  { workspaceId, url, sign }: Target,
  delivery: DueDelivery,
  givingUp: AbortSignal,
): Promise<TriedDelivery> {
  const message = { eventId: delivery.event_id, payload: delivery.payload };
  const span = tracer && spanOfTry(delivery);
  const signed: Sign = span ? (given) => ({ ...sign(given), traceparent: traceparentOf(span) }) : sign;
  const terms = { workspaceId, sign: signed, timeoutMs: TRY_MS, now: clock.now(), signal: givingUp };
  const tried = await tryDelivery(send, url, message, terms);
  metrics.tried(tried.verdict);
  if (tracer && span) traceTry(tracer, span, tried);
  const at = clock.now();
  const isTriedAgain = tried.verdict === 'failed';
  const next = isTriedAgain ? nextAttemptAt(delivery.attempts + 1, tried.restMs, at, Math.random()) : undefined;
  return { delivery, tried, at, nextAttemptAt: next };
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
