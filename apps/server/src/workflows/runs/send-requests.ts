import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { toId } from '../../ids.ts';
import type { SendRequest } from '../../outbound-http/guarded-request.ts';
import type { HttpNode } from '../definitions/definition.ts';
import { StepError } from '../definitions/step-error.ts';
import type { HeldRun } from './advance-run.ts';
import { type HttpAttempt, performHttp } from './perform-http.ts';

/** How many requests one process has under way, and how many runs wait for a place in it. */
const MOST_UNDER_WAY = 64;
const MOST_WAITING = 256;

/** Sends the requests of `http` nodes, so many at a time that they hold up nobody. */
export interface RequestSender {
  /** Takes a place, or puts the run in line for one. `full` where the line is too long. */
  takePlace(held: HeldRun): 'taken' | 'waits' | 'full';
  /** Gives a place back that no request was sent from. */
  leavePlace(): void;
  /** Sends from a taken place, once it is committed that it is sent. */
  send(held: HeldRun, node: HttpNode): void;
  /** Gives up what is under way after `ms`. */
  stop(ms: number): Promise<void>;
}

/**
 * @param onAttempt gets the run with what its try came to
 * @param onPlace gets a run that may take a place now
 */
export function createRequestSender(options: {
  send: SendRequest;
  clock: Clock;
  log: Logger;
  onAttempt: (held: HeldRun, attempt: HttpAttempt) => void;
  onPlace: (held: HeldRun) => void;
}): RequestSender {
  const { clock, log } = options;
  const waiting: HeldRun[] = [];
  const underWay = new Set<Promise<void>>();
  const givingUp = new AbortController();
  let taken = 0;

  const leavePlace = () => {
    taken -= 1;
    const next = waiting.shift();
    if (next) options.onPlace(next);
  };

  async function send(held: HeldRun, node: HttpNode): Promise<void> {
    const { run } = held;
    // The same in every try of this step, so that the other side can tell a repetition.
    const idempotencyKey = `${toId('run', run.id)}-${run.step}`;
    const attempt = await performHttp(node, run.context, {
      idempotencyKey,
      send: options.send,
      now: clock.now(),
      signal: givingUp.signal,
    }).catch((error) => failed(run.id, error));
    leavePlace();
    // Given up with the server: what the request came to can't be known here.
    if (!givingUp.signal.aborted) options.onAttempt(held, attempt);
  }

  function failed(runId: string, error: unknown): HttpAttempt {
    if (error instanceof StepError) return { error: { code: error.code, message: error.message }, retriable: false };
    if (!givingUp.signal.aborted)
      log.error({ err: error, runId }, 'the request of a run failed in a way that is not known');
    return { error: { code: 'http_failed', message: 'The request could not be sent.' }, retriable: true };
  }

  return {
    takePlace: (held) => {
      if (taken < MOST_UNDER_WAY) {
        taken += 1;
        return 'taken';
      }
      if (waiting.length >= MOST_WAITING) return 'full';
      waiting.push(held);
      return 'waits';
    },
    leavePlace,
    send: (held, node) => {
      const sending: Promise<void> = send(held, node).then(() => void underWay.delete(sending));
      underWay.add(sending);
    },
    stop: async (ms) => {
      waiting.length = 0;
      const timer = setTimeout(() => givingUp.abort(), ms);
      while (underWay.size > 0) await Promise.all(underWay);
      clearTimeout(timer);
      givingUp.abort();
    },
  };
}
