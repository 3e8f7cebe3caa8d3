import { setTimeout as sleep } from 'node:timers/promises';
import type { DueDelivery, EndpointKey } from './claim-endpoints.ts';
import type { WebhookDeps } from './deps.ts';
import { gatherMarks } from './gather-marks.ts';
import { markDeliveries, type TriedDelivery } from './mark-deliveries.ts';
import { nextAttemptAt } from './retry-schedule.ts';
import { createSigner, type Sign, TRY_MS, type Tried, tryDelivery } from './try-delivery.ts';
import { secretsOf, type WebhookRow } from './webhook.ts';

/** How many requests one endpoint gets at a time. */
const AT_ONCE = 32;
/** After which an endpoint is read anew: it may have been disabled, deleted or changed. */
const ROUND_MS = 1000;

/** What an endpoint wants instead of more. */
interface Wish {
  url: string;
  restMs: number;
  isGone: boolean;
}

/** What is being sent to one endpoint. */
export interface Sending {
  /** Resources to leave alone: of them something is to be sent, on its way, or not yet noted. */
  busy(): string[];
  /** Whether more may be sent. */
  goesOn(): boolean;
  /** Sends what is due, and resolves when there is room for more. */
  send(webhook: WebhookRow, due: DueDelivery[]): Promise<void>;
  /** Waits until nothing is busy, at most so many milliseconds. */
  settled(mostMs: number): Promise<void>;
  /** Begins nothing more of what it was given, waits for what is on its way, and writes what came of it. */
  settle(): Promise<void>;
  /** Where an endpoint has asked, for how many milliseconds it should be left alone, or has answered 410; and its URL. */
  wish(): Wish | undefined;
}

/**
 * Sends to one endpoint: the events of one resource one after another, those of others side by side. What came of them is
 * written meanwhile.
 * @param isOurs whether this server may begin to send another
 * @param givingUp after which no answer is waited for
 */
export function sendDeliveries(
  deps: WebhookDeps,
  endpoint: EndpointKey,
  { isOurs, givingUp }: { isOurs: () => boolean; givingUp: AbortSignal },
): Sending {
  const { database, clock, metrics } = deps;
  const busy = new Set<string>();
  const running = new Set<Promise<void>>();
  let waiting: DueDelivery[][] = [];
  let onTaken = () => {};
  let target: { url: string; sign: Sign };
  let wish: Wish | undefined;
  let hasStopped = false;

  const marks = gatherMarks<TriedDelivery & { isLast: boolean }>(async (results) => {
    await database.inHotLoop((tx) => markDeliveries(tx, endpoint, results));
    for (const { delivery, isLast } of results) if (isLast) busy.delete(delivery.order_key);
  });
  /** Once it does not, it does not any more: what was left unsent counts as busy. */
  const goesOn = () => {
    hasStopped ||= !isOurs() || wish !== undefined || marks.hasFailed();
    return !hasStopped;
  };

  const heed = (url: string, { restMs, verdict }: Tried) => {
    const isGone = verdict === 'gone';
    if (isGone || restMs > 0) wish ??= { url, restMs, isGone };
    // What answers while the URL changes may differ.
    if (wish?.url === url) wish = { url, restMs: Math.max(restMs, wish.restMs), isGone: isGone || wish.isGone };
  };
  const sendOne = async (delivery: DueDelivery): Promise<TriedDelivery> => {
    const { url, sign } = target;
    const message = { eventId: delivery.event_id, payload: delivery.payload };
    const terms = { sign, timeoutMs: TRY_MS, now: clock.now(), signal: givingUp };
    const tried = await tryDelivery(deps.send, url, message, terms);
    metrics.tried(tried.verdict);
    heed(url, tried);
    const at = clock.now();
    const isTriedAgain = tried.verdict === 'failed';
    const next = isTriedAgain ? nextAttemptAt(delivery.attempts + 1, tried.restMs, at, Math.random()) : undefined;
    return { delivery, tried, at, nextAttemptAt: next };
  };
  const sendInOrder = async (same: DueDelivery[]) => {
    for (const delivery of same) {
      if (!goesOn()) return;
      // What was given up counts as not tried.
      const result = await sendOne(delivery).catch(() => undefined);
      if (!result) return;
      // Later events of the resource wait for one that is tried again.
      const isLast = result.nextAttemptAt !== undefined || delivery === same.at(-1);
      marks.add({ ...result, isLast });
      if (isLast) return;
    }
  };
  const sendSome = async () => {
    while (waiting.length > 0 && goesOn()) {
      const same = waiting.shift()!;
      onTaken();
      await sendInOrder(same);
    }
    onTaken();
  };
  const drop = () => {
    for (const [first] of waiting) busy.delete(first!.order_key);
    waiting = [];
  };
  const allWritten = async () => {
    await Promise.all(running);
    await marks.settled();
  };

  return {
    busy: () => [...busy],
    goesOn,
    send: async (webhook, due) => {
      target = { url: webhook.url, sign: createSigner(secretsOf(webhook, deps.secrets, clock.now())) };
      const groups = byResource(due);
      for (const [first] of groups) busy.add(first!.order_key);
      waiting.push(...groups);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ROUND_MS);
        onTaken = () => {
          if (waiting.length > groups.length / 2 && goesOn()) return;
          clearTimeout(timer);
          resolve();
        };
        while (running.size < AT_ONCE && waiting.length > 0) {
          const run = sendSome().finally(() => running.delete(run));
          running.add(run);
        }
      });
      if (waiting.length > groups.length / 2) drop();
    },
    settled: (mostMs) => Promise.race([allWritten(), sleep(mostMs)]),
    settle: async () => {
      drop();
      await allWritten();
      busy.clear();
    },
    wish: () => wish,
  };
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
