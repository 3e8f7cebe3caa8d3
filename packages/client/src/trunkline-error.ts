import type { components } from './generated/schema.ts';

/** Every error code that the service answers with. */
export type ErrorCode = components['schemas']['ErrorCode'];
/** One fault of a request, and its place. */
export type ErrorDetail = components['schemas']['ErrorDetail'];

export interface TrunklineErrorFields {
  status: number;
  code: ErrorCode;
  message: string;
  details?: ErrorDetail[];
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
}

/** The service refused a request, or could not carry it out. A server that can't be reached is a `TypeError` of fetch. */
export class TrunklineError extends Error {
  override readonly name = 'TrunklineError';
  /** HTTP status of the answer. */
  readonly status: number;
  readonly code: ErrorCode;
  /** Every single fault; empty where there is no more to say than the message. */
  readonly details: readonly ErrorDetail[];
  /** Quote it when you ask for help: the server's log has it too. */
  readonly requestId: string | undefined;
  /** Seconds after which the same request can succeed, where the server said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, message, details = [], requestId, retryAfterSeconds }: TrunklineErrorFields) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Codes for answers that are not the service's own, such as those of a proxy in front of it. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  402: 'payment_required',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

const isErrorBody = (body: unknown): body is components['schemas']['Error'] =>
  typeof body === 'object' && body !== null && 'code' in body && 'error' in body && typeof body.error === 'string';

/** Seconds that an answer asks to wait (RFC 9110, section 10.2.3: seconds or a date). Undefined where it doesn't. */
export function retryAfterSeconds(response: Response): number | undefined {
  const value = response.headers.get('Retry-After');
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** The error of an answer. `body` is what was read of it: the service's `{code, error}`, or anything. */
export function errorOf(response: Response, body: unknown): TrunklineError {
  const { status } = response;
  const known = isErrorBody(body);
  return new TrunklineError({
    status,
    code: known ? body.code : (CODE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request' : 'internal_error')),
    message: known ? body.error : `The server answered ${status}, and not as Trunkline does. Is the base URL right?`,
    details: known ? (body.details ?? []) : [],
    requestId: response.headers.get('X-Request-Id') ?? undefined,
    retryAfterSeconds: retryAfterSeconds(response),
  });
}
