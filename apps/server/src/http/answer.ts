import type { Logger } from 'pino';
import { ServiceError } from '../service-error.ts';
import type { Operation } from './contract.ts';
import { errorAnswer } from './errors.ts';
import { sendEventStream } from './event-stream.ts';
import { type Exchange, write } from './exchange.ts';
import type { StreamFrame } from './handler.ts';
import type { Metrics } from './metrics.ts';
import type { Validator } from './validator.ts';

/**
 * Which answers are checked against the contract. What breaks it is sent, logged and counted; where tests `throw`, all are
 * checked, and what breaks it is a 500.
 */
export type ValidateResponses = 'throw' | 'all' | 'sampled' | 'off';

export interface AnswerOptions {
  validator: Validator;
  metrics: Pick<Metrics, 'answered' | 'violation'>;
  log: Pick<Logger, 'error'>;
  validateResponses: ValidateResponses;
  draining: AbortSignal;
}

/** What any handler answers. */
export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  stream?: AsyncIterable<StreamFrame>;
}

export interface Answering {
  /** Sends an answer, once it is found to keep the contract; a stream until it ends. */
  answer(exchange: Exchange, answer: Answer): Promise<void> | void;
  /** Sends what a request failed with. */
  fail(exchange: Exchange, error: unknown): void;
}

/** How often an open stream's key is looked at; with the key ring's half second a revocation shows within one. */
const KEY_CHECK_MS = 400;

/** Of a sampled operation, so many answers are checked at first, and then one in so many. */
const SAMPLE = 100;

/** Says of each answer whether it is to be checked. Errors of a sampled operation all are: they are rare, and made by hand. */
function createSampling(mode: ValidateResponses): (operation: Operation, status: number) => boolean {
  if (mode !== 'sampled') return () => mode !== 'off';
  const answered = new Map<Operation, number>();
  return (operation, status) => {
    const before = answered.get(operation) ?? 0;
    answered.set(operation, before + 1);
    return status >= 400 || before < SAMPLE || before % SAMPLE === 0;
  };
}

export function createAnswering(options: AnswerOptions): Answering {
  const { validator, metrics, log, draining } = options;
  const isChecked = createSampling(options.validateResponses);

  function send(exchange: Exchange, { status, body, headers }: Answer): void {
    const { operation, response } = exchange;
    const violation = operation && isChecked(operation, status) && validator.response(operation, status, body);
    if (violation) {
      metrics.violation(operation);
      const { requestId } = exchange;
      log.error({ requestId, operation: operation.id, status, violation }, 'an answer breaks the contract');
      if (options.validateResponses === 'throw')
        throw new ServiceError('internal_error', `The answer breaks the contract: ${violation}`);
    }
    const sent = headers ? Object.assign(exchange.headers, headers) : exchange.headers;
    if (draining.aborted) sent['Connection'] = 'close';
    write(response, status, sent, body);
  }

  async function openStream(exchange: Exchange, stream: AsyncIterable<StreamFrame>): Promise<void> {
    const { response, headers, gone, recognize } = exchange;
    const check = setInterval(async () => {
      // Without the database nothing is known of the key; the stream stays until something is.
      const principal = await Promise.resolve(recognize?.()).catch(() => 'unknown');
      if (!principal) gone.abort();
    }, KEY_CHECK_MS);
    try {
      await sendEventStream(response, stream, { signal: gone.signal, draining, headers });
    } finally {
      clearInterval(check);
    }
  }

  return {
    answer(exchange, answer) {
      if (!answer.stream) return send(exchange, answer);
      if (exchange.request.method !== 'HEAD') return openStream(exchange, answer.stream);
      write(exchange.response, answer.status, { ...exchange.headers, 'Content-Type': 'text/event-stream' }, undefined);
    },
    fail(exchange, error) {
      const { response, requestId, operation, headers } = exchange;
      const answer = errorAnswer(error);
      if (answer.status >= 500) log.error({ requestId, operation: operation?.id, err: error }, 'a request failed');
      if (response.headersSent) {
        response.destroy();
        return;
      }
      try {
        send(exchange, answer);
      } catch (violation) {
        const { status, body } = errorAnswer(violation);
        write(response, status, headers, body);
      }
    },
  };
}
