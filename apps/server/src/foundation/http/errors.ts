import { type ErrorCode, ServiceError } from '../values/service-error.ts';

/** The one table of statuses (errors.md). */
const STATUS_OF_CODE: Record<ErrorCode, number> = {
  invalid_request: 400,
  missing_idempotency_key: 400,
  workflow_not_published: 400,
  too_many_recipients: 400,
  unauthorized: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  concurrency_conflict: 409,
  cooldown_active: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  run_not_active: 409,
  campaign_not_startable: 409,
  invalid_state: 409,
  upload_not_validated: 409,
  contact_list_in_use: 409,
  number_unavailable: 409,
  requirements_missing: 409,
  number_already_exists: 409,
  number_in_use: 409,
  trunk_already_exists: 409,
  trunk_in_use: 409,
  provider_in_use: 409,
  member_already_exists: 409,
  no_identity_provider: 409,
  number_in_other_pool: 409,
  not_a_member: 409,
  pool_in_use: 409,
  agent_in_use: 409,
  sound_in_use: 409,
  knowledge_base_not_ready: 409,
  call_not_active: 409,
  call_refused: 409,
  limit_reached: 409,
  events_expired: 410,
  changed_meanwhile: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal_error: 500,
  provider_error: 502,
  unavailable: 503,
};

/** An error as it is sent. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { code: ErrorCode; error: string; details?: object[]; requestId: string; docUrl: string };
}

/**
 * The answer to what a request failed with. Whatever is not a `ServiceError` says nothing of itself.
 * @param requestId the ID that the answer bears
 */
export function errorAnswer(error: unknown, requestId: string): ErrorAnswer {
  const failure = error instanceof ServiceError ? error : internalError();
  const { code, message, details } = failure;
  const status = STATUS_OF_CODE[code];
  const docUrl = `/docs/guides/errors#${code}`;
  const body = { code, error: message, ...(details && { details }), requestId, docUrl };
  return { status, headers: { ...HEADERS_OF_STATUS[status]?.(code), ...failure.headers }, body };
}

const internalError = () => new ServiceError('internal_error', 'The server could not carry out the request.');

/** HTTP clients retry some 409s by themselves; this tells them which they should (api.md, "Errors"). */
const HEADERS_OF_STATUS: Record<number, (code: ErrorCode) => Record<string, string>> = {
  409: (code) => ({ 'x-should-retry': String(code === 'idempotency_in_progress') }),
  503: () => ({ 'Retry-After': '1' }),
};
