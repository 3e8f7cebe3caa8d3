import type { components, operations, Readable, Writable } from './generated/schema.ts';
import type { Unwrapped } from './unwrap.ts';

type Schemas = components['schemas'];
export type OperationId = keyof operations;

/** Of shapes that exclude each other, one: what only the others have is forbidden. */
type OneOf<Shapes, All = Shapes> = Shapes extends unknown
  ? Shapes & { [Key in Exclude<All extends unknown ? keyof All : never, keyof Shapes>]?: never }
  : never;

type Json<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : never;
type Success<Responses> = Json<Responses[keyof Responses & (200 | 201 | 202)]>;

/** What an operation takes as its body. */
export type Body<Id extends OperationId> = OneOf<
  Writable<Json<NonNullable<operations[Id] extends { requestBody?: infer Body } ? Body : never>>>
>;
/** A body has one of these fields at most, or one that is null. */
export type NotBoth<One extends string, Other extends string> =
  | { [Name in One]?: null | undefined }
  | { [Name in Other]?: null | undefined };
/** What an operation takes in its query. */
export type Query<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;
/** What an operation answers, without the `{success, data}` around it. */
export type Data<Id extends OperationId> = Unwrapped<Readable<Success<operations[Id]['responses']>>>;

type OptionName<Header> = Header extends `${infer First}-${infer Rest}` ? `${Uncapitalize<First>}${Rest}` : never;
/** The headers of an operation as options: `Idempotency-Key` is `idempotencyKey`. */
export type HeaderOptions<Id extends OperationId> = {
  [Header in keyof operations[Id]['parameters']['header'] as OptionName<Header>]: operations[Id]['parameters']['header'][Header];
};

/** The values of a closed list that this version knows, without those that a later one may bring. */
export type Known<Value> = Value extends unknown ? (string extends Value ? never : Value) : never;

/** An answer on its way. */
export interface Pending<Value> extends Promise<Value> {
  /** The answer as it came over HTTP, with a body that nobody has read. Rejects as the promise does. */
  asResponse(): Promise<Response>;
  /** Both. */
  withResponse(): Promise<{ data: Value; response: Response }>;
}
export type Answer<Id extends OperationId> = Pending<Data<Id>>;

/** What a listing lists. */
export type Item<Page> = Page extends { items: (infer Entry)[] } ? Entry : never;
/**
 * A listing: the first page where it is awaited, every entry to the last page in a `for await`, and every page in a
 * `for await` over `pages()`.
 */
export interface Pages<Page> extends Pending<Page>, AsyncIterable<Item<Page>> {
  pages(): AsyncGenerator<Page, void, undefined>;
}
export type Listing<Id extends OperationId> = Pages<Data<Id>>;

export type UploadEvent = Schemas['ContactListUploadEvent'];
export type CampaignEvent = Schemas['CampaignEvent'];
export type WorkflowRunEvent = Schemas['WorkflowRunEvent'];
export type FeedEvent = Schemas['FeedEvent'];
interface EventOf {
  streamContactListUploadEvents: UploadEvent;
  streamCampaignEvents: CampaignEvent;
  streamWorkflowRunEvents: WorkflowRunEvent;
  streamRunEvents: WorkflowRunEvent;
  streamEvents: FeedEvent;
}
/** The events of a stream, until nothing more can happen; those of the feed have no end. */
export type Events<Id extends keyof EventOf> = AsyncGenerator<EventOf[Id], void, undefined>;

/** A file with the name that it is to have, where its content is no `File`. */
export interface NamedFile {
  name: string;
  content: Blob;
}
