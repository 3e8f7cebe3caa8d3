export { type ClientOptions, createClient, type TrunklineClient } from './create-client.ts';
export type { EventOptions } from './event-stream.ts';
export type { components, operations, paths } from './generated/schema.ts';
export type { ItemOf, ListingPath, PageOf } from './pages.ts';
export type { CampaignEvent, EventStreams, UploadEvent, WorkflowRunEvent } from './streams.ts';
export { type ErrorCode, type ErrorDetail, TrunklineError } from './trunkline-error.ts';
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
