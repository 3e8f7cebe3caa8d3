export { type ClientOptions, createClient, type TrunklineClient } from './create-client.ts';
export {
  ConflictError,
  ConnectionError,
  type ErrorCode,
  type ErrorDetail,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RateLimitedError,
  ServerError,
  TimeoutError,
  TrunklineError,
  UnauthorizedError,
  UnexpectedAnswerError,
} from './errors.ts';
export type { EventOptions } from './event-stream.ts';
export type { components, operations, paths } from './generated/schema.ts';
export type {
  CampaignEvent,
  Data,
  FeedEvent,
  Item,
  Known,
  NamedFile,
  OperationId,
  Pages,
  Pending,
  UploadEvent,
  WorkflowRunEvent,
} from './method-types.ts';
export type { RequestOptions } from './request-options.ts';
export { type Unwrapped, unwrap } from './unwrap.ts';
export {
  type CheckedUpload,
  type ContactFile,
  ContactFileError,
  type ContactList,
  type ContactListUpload,
  type FileContent,
  type ProgressOptions,
} from './upload-contact-list.ts';
export { type InboundCallDecision, type WebhookEvent, WebhookSignatureError, webhooks } from './webhooks.ts';
