import type { Logger } from 'pino';
import { ServiceError } from '../values/service-error.ts';
import type { Operation } from './contract.ts';
import { errorAnswer } from './errors.ts';
import { createEventStreams } from './event-stream.ts';
import { type Exchange, write } from './exchange.ts';
import type { StreamSource } from './handler.ts';
import type { Metrics } from './metrics.ts';
import type { Validator } from './validator.ts';
import { watchKeys } from './watch-keys.ts';

/**
 * Which answers are checked against the contract. What breaks it is sent, logged and counted; where tests `throw`, all are
 * checked, and what breaks it is a 500.
 */
export type ValidateResponses = 'throw' | 'all' | 'sampled' | 'off';

export interface AnswerOptions {
  validator: Validator;
  metrics: Pick<Metrics, 'answered' | 'violation' | 'streamOpened' | 'streamEnded'>;
  log: Pick<Logger, 'error' | 'debug' | 'isLevelEnabled'>;
  validateResponses: ValidateResponses;
  draining: AbortSignal;
}

/** What any handler answers. */
export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  stream?: StreamSource;
}

export interface Answering {
  /** Sends an answer, once it is found to keep the contract. */
  answer(exchange: Exchange, answer: Answer): void;
  /** Opens a stream. `onOver` is called once it has ended. */
  openStream(exchange: Exchange, source: StreamSource, onOver: (exchange: Exchange) => void): void;
  /** Sends what a request failed with. */
  fail(exchange: Exchange, error: unknown): void;
}

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
  const keys = watchKeys();
  const streams = createEventStreams(draining);

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
    if (log.isLevelEnabled('debug')) {
      const ms = Math.round(performance.now() - exchange.startedAt);
      log.debug({ requestId: exchange.requestId, operation: operation?.id, status, ms }, 'a request is answered');
    }
    write(response, status, sent, body);
  }

  function fail(exchange: Exchange, error: unknown): void {
    const { response, requestId, operation, headers } = exchange;
    const answer = errorAnswer(error, requestId);
    if (answer.status >= 500) log.error({ requestId, operation: operation?.id, err: error }, 'a request failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    try {
      send(exchange, answer);
    } catch (violation) {
      const { status, body } = errorAnswer(violation, requestId);
      write(response, status, headers, body);
    }
  }

  const over = (exchange: Exchange) => {
    keys.remove(exchange);
    metrics.streamEnded();
  };

  return {
    fail,
    answer(exchange, answer) {
      if (!answer.stream) return send(exchange, answer);
      write(exchange.response, answer.status, { ...exchange.headers, 'Content-Type': 'text/event-stream' }, undefined);
    },
    openStream(exchange, source, onOver) {
      const { response, headers } = exchange;
      response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
      response.flushHeaders();
      metrics.streamOpened();
      keys.add(exchange);
      exchange.forgetHead();
      try {
        exchange.stream = streams.open(response, source, (error) => {
          over(exchange);
          if (error !== undefined) fail(exchange, error);
          onOver(exchange);
        });
      } catch (error) {
        over(exchange);
        throw error;
      }
    },
  };
}
