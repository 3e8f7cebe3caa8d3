import type { Logger } from 'pino';
import { traceparentOf, tracer } from '../../../foundation/observe/tracing.ts';
import type { SendRequest } from '../../../foundation/outbound-http/guarded-request.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { toId } from '../../../foundation/values/ids.ts';
import { Shares } from '../../../foundation/values/limiter.ts';
import type { HttpNode } from '../definitions/definition.ts';
import { StepError } from '../definitions/step-error.ts';
import { type HttpAttempt, performHttp } from './perform-http.ts';
import type { RunRow } from './run.ts';
import { spanOfRequest, traceRequest } from './trace-run.ts';

/** How many requests one process has under way; one workspace alone has half of them. */
const MOST_UNDER_WAY = 128;

/** Sends the requests of `http` nodes, so many at a time that they hold up nobody. */
export interface RequestSender {
  /** The slots to send from: one is taken before `send`, which gives it back. */
  slots: Shares;
  /**
   * Sends a request as soon as it is committed that it is sent. Resolves to what the try came to; to nothing where it wasn't
   * sent, or was given up and can't be known here.
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
  const slots = new Shares(MOST_UNDER_WAY);

  function failed(runId: string, error: unknown): HttpAttempt {
    if (error instanceof StepError) return { error: { code: error.code, message: error.message }, retriable: false };
    if (!givenUp.aborted) log.error({ err: error, runId }, 'the request of a run failed in a way that is not known');
    return { error: { code: 'http_failed', message: 'The request could not be sent.' }, retriable: true };
  }

  return {
    slots,
    send: async (run, node, isCommitted) => {
      try {
        if (!(await isCommitted)) return undefined;
        // The same in every try of this step, so that the other side can tell a repetition.
        const idempotencyKey = `${toId('run', run.id)}-${run.step}`;
        const { workspace_id: workspaceId } = run;
        const span = tracer && spanOfRequest(run);
        const traceparent = span && traceparentOf(span);
        const once = { workspaceId, idempotencyKey, traceparent };
        const deps = { ...once, send: options.send, now: clock.now(), signal: givenUp };
        const attempt = await performHttp(node, run.context, deps).catch((error) => failed(run.id, error));
        if (tracer && span) traceRequest(tracer, span, attempt);
        return givenUp.aborted ? undefined : attempt;
      } finally {
        slots.giveBack(run.workspace_id);
      }
    },
  };
}
