import type { components } from './generated/schema.ts';

/** Every error code that the service answers with. */
export type ErrorCode = components['schemas']['ErrorCode'];
/** One fault of a request, and its place. */
export type ErrorDetail = components['schemas']['ErrorDetail'];

/** The service refused a request, or could not carry it out. Its subclasses are named after statuses. */
export class TrunklineError extends Error {
  override readonly name: string = 'TrunklineError';
  // Declared only: as fields of their own they would make the code larger, and the constructor sets them all.
  /** HTTP status of the answer. */
  declare readonly status: number;
  declare readonly code: ErrorCode;
  /** Every single fault; empty where there is no more to say than the message. */
  declare readonly details: readonly ErrorDetail[];
  /** Quote it when you ask for help: the server's log has it too. */
  declare readonly requestId: string | undefined;
  /** Seconds after which the same request can succeed, where the server said so. */
  declare readonly retryAfterSeconds: number | undefined;

  /** @param body what was read of the answer: the service's `{code, error}`, or anything */
  constructor(response: Response, body: unknown) {
    const { status, headers } = response;
    const known = isErrorBody(body);
    super(known ? body.error : `The server answered ${status}, and not as Trunkline does. Is the base URL right?`);
    this.status = status;
    this.code = known ? body.code : codeOf(status);
    this.details = known ? (body.details ?? []) : [];
    this.requestId = headers.get('X-Request-Id') ?? undefined;
    this.retryAfterSeconds = retryAfterSeconds(response);
  }
}

/** 400: something in the request is not as the contract says; `details` name it. */
export class InvalidRequestError extends TrunklineError {
  override readonly name = 'InvalidRequestError';
}
/** 401: the key is missing, wrong, or revoked. */
export class UnauthorizedError extends TrunklineError {
  override readonly name = 'UnauthorizedError';
}
/** 403: the key lacks the permission. */
export class ForbiddenError extends TrunklineError {
  override readonly name = 'ForbiddenError';
}
/** 404: there is no such resource in the workspace. */
export class NotFoundError extends TrunklineError {
  override readonly name = 'NotFoundError';
}
/** 409: the resource's state, or another request, stands in the way; `code` says which. */
export class ConflictError extends TrunklineError {
  override readonly name = 'ConflictError';
}
/** 429: too many requests; see `retryAfterSeconds`. */
export class RateLimitedError extends TrunklineError {
  override readonly name = 'RateLimitedError';
}
/** 500 and above: the server could not carry it out. */
export class ServerError extends TrunklineError {
  override readonly name = 'ServerError';
}
/** Something answered that is not Trunkline, such as a proxy in front of it, or a wrong base URL. */
export class UnexpectedAnswerError extends TrunklineError {
  override readonly name = 'UnexpectedAnswerError';
}

/** No answer came. Whether the request was carried out is not known. `cause` is what fetch threw. */
export class ConnectionError extends Error {
  override readonly name: string = 'ConnectionError';
}
/** No whole answer came in time. */
export class TimeoutError extends ConnectionError {
  override readonly name = 'TimeoutError';
}

const CLASS_OF_STATUS: Readonly<Record<number, typeof TrunklineError>> = {
  400: InvalidRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
};

/** The code for an answer that is not the service's own. */
function codeOf(status: number): ErrorCode {
  if (status >= 500) return status === 500 ? 'internal_error' : 'unavailable';
  return CODE_OF_STATUS[status] ?? 'invalid_request';
}
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'request_timeout',
  413: 'payload_too_large',
  429: 'rate_limited',
};

type ErrorBody = components['schemas']['Error'];
const isErrorBody = (body: unknown): body is ErrorBody => {
  const { code, error } = (body ?? {}) as Partial<ErrorBody>;
  return typeof code === 'string' && typeof error === 'string';
};

/** Seconds that an answer asks to wait (RFC 9110, section 10.2.3: seconds or a date). Undefined where it doesn't. */
export function retryAfterSeconds({ headers }: Response): number | undefined {
  const value = headers.get('Retry-After');
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** The error of an answer. `body` is what was read of it. */
export function errorOf(response: Response, body: unknown): TrunklineError {
  const { status } = response;
  if (!isErrorBody(body)) return new UnexpectedAnswerError(response, body);
  return new (CLASS_OF_STATUS[status] ?? (status < 500 ? TrunklineError : ServerError))(response, body);
}
