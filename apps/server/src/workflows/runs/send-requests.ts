import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { toId } from '../../ids.ts';
import { limiter } from '../../limiter.ts';
import type { SendRequest } from '../../outbound-http/guarded-request.ts';
import type { HttpNode } from '../definitions/definition.ts';
import { StepError } from '../definitions/step-error.ts';
import { type HttpAttempt, performHttp } from './perform-http.ts';
import type { RunRow } from './run.ts';

/** How many requests one process has under way. */
const MOST_UNDER_WAY = 64;

/** Sends the requests of `http` nodes, so many at a time that they hold up nobody. */
export interface RequestSender {
  /** How many slots there are to send from. */
  free(): number;
  /**
   * Has a slot from now on until the request is over: sends it as soon as it is committed that it is sent. Resolves to what
   * the try came to; to nothing where it wasn't sent, or was given up and can't be known here.
   */
  send(run: RunRow, node: HttpNode, isCommitted: Promise<boolean>): Promise<HttpAttempt | undefined>;
}

/** @param options.givenUp ends what is under way */
export function createRequestSender(options: {
  send: SendRequest;
  clock: Clock;
  log: Logger;
  givenUp: AbortSignal;
}): RequestSender {
  const { clock, log, givenUp } = options;
  const slots = limiter(MOST_UNDER_WAY);

  function failed(runId: string, error: unknown): HttpAttempt {
    if (error instanceof StepError) return { error: { code: error.code, message: error.message }, retriable: false };
    if (!givenUp.aborted) log.error({ err: error, runId }, 'the request of a run failed in a way that is not known');
    return { error: { code: 'http_failed', message: 'The request could not be sent.' }, retriable: true };
  }

  return {
    free: () => MOST_UNDER_WAY - slots.underWay(),
    send: (run, node, isCommitted) =>
      slots(async () => {
        if (!(await isCommitted)) return undefined;
        // The same in every try of this step, so that the other side can tell a repetition.
        const idempotencyKey = `${toId('run', run.id)}-${run.step}`;
        const deps = { idempotencyKey, send: options.send, now: clock.now(), signal: givenUp };
        const attempt = await performHttp(node, run.context, deps).catch((error) => failed(run.id, error));
        return givenUp.aborted ? undefined : attempt;
      }),
  };
}
