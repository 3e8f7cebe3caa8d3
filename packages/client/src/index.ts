export { type ClientOptions, createClient, type TrunklineClient } from './create-client.ts';
export type { components, operations, paths } from './generated/schema.ts';
export type { ItemOf, ListingPath, PageOf } from './pages.ts';
export { type ErrorCode, type ErrorDetail, TrunklineError } from './trunkline-error.ts';
export { type Unwrapped, unwrap } from './unwrap.ts';
