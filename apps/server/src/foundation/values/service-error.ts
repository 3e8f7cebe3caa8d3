import type { components } from './generated/contract.ts';

/** Every error code of the contract. */
export type ErrorCode = components['schemas']['ErrorCode'];
/** One fault and its place, as the contract's `ErrorDetail`. */
export type ErrorDetail = components['schemas']['ErrorDetail'];

/**
 * What a feature throws to refuse a request. The edge turns the code into a status and sends
 * `{code, error, details?}`; `message` therefore is for the client, and holds nothing internal. What a
 * vendor said belongs in `cause`, which is logged and never sent.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  readonly headers: Record<string, string>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: ErrorDetail[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** Seconds after which a client may try again where a disk is full: somebody has to make room. */
const ROOM_SECONDS = '30';

/** The `unavailable` of a disk, or a quota, that is full. @param what has no room left, as a client may read it */
export const noRoom = (what: string, cause: unknown): ServiceError =>
  new ServiceError('unavailable', `${what} has no room left. Try again later.`, {
    headers: { 'Retry-After': ROOM_SECONDS },
    cause,
  });

/**
 * The one `not_found`, the same for what another workspace has and for what never was (api.md, "IDs").
 * @param path where the request names it, if in its body: `/body/fromNumber`
 */
export function notFound(path?: string): ServiceError {
  const message = 'There is no such resource in this workspace.';
  if (path === undefined) return new ServiceError('not_found', message);
  return new ServiceError('not_found', `${path.slice(1)}: ${message}`, { details: [{ path, message }] });
}

/** What was looked for. Throws `not_found` where there is none. */
export async function existing<T extends object>(found: Promise<T | undefined>): Promise<T> {
  const row = await found;
  if (row === undefined) throw notFound();
  return row;
}

/** The fault of a number in the path that can't be read as one. */
export const noNumber = (message: string): ServiceError =>
  new ServiceError('invalid_request', message, { details: [{ path: '/path/phoneNumber', message }] });

/** Throws `invalid_request` with every fault, if there are any. */
export function refuse(faults: ErrorDetail[]): void {
  if (faults.length === 0) return;
  const text = faults.map(({ path, message }) => `${path.slice(1)} ${message}`).join('; ');
  throw new ServiceError('invalid_request', text.slice(0, 2048), { details: faults.slice(0, 100) });
}
