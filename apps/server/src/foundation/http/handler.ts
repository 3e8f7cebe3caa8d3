import type { operations, Readable, Writable } from '../values/generated/contract.ts';

/** The name of every operation that the server carries out. Those of outbound webhooks, such as `onCallEnded`, are sent by it. */
export type OperationId = Exclude<keyof operations, `on${Capitalize<string>}`>;

type Parameters<Id extends OperationId, Place extends 'query' | 'header' | 'path'> = operations[Id] extends {
  parameters: { [P in Place]?: infer Value };
}
  ? [NonNullable<Value>] extends [never]
    ? Record<never, never>
    : NonNullable<Value>
  : Record<never, never>;

/** A file of a body in `multipart/form-data`. Its content is read to its end before the next file is asked for. */
export interface FilePart {
  /** The part's name. */
  name: string;
  /** As it was sent: nothing here is to be trusted. */
  fileName: string | undefined;
  content: AsyncIterable<Uint8Array>;
}

type Body<Id extends OperationId> = operations[Id] extends { requestBody: { content: { 'application/json': infer B } } }
  ? Writable<B>
  : operations[Id] extends { requestBody?: { content: { 'application/json': infer B } } }
    ? Writable<B> | undefined
    : operations[Id] extends { requestBody: { content: { 'multipart/form-data': unknown } } }
      ? AsyncIterable<FilePart>
      : undefined;

/** What a handler reads: the parts of the request, checked against the contract before it runs. */
export interface Input<Id extends OperationId> {
  path: Parameters<Id, 'path'>;
  query: Parameters<Id, 'query'>;
  /** Header parameters by their names in the contract, such as `Idempotency-Key`. */
  headers: Parameters<Id, 'header'>;
  body: Body<Id>;
}

type Success = 200 | 201 | 202 | 204;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/**
 * One frame of a server-sent event stream. `id` is what `Last-Event-ID` brings back; `data` is sent as JSON. One whose `event`
 * is empty has an `id` only: it says how far the stream is.
 */
export interface StreamFrame {
  id: string;
  event: string;
  data: unknown;
}

/** An open stream, as who sends to it sees it. */
export interface OpenStream {
  /** Sends a frame. Where the client has no room for another after it, `onRoom` is called once it has. */
  send(frame: StreamFrame): boolean;
  /** Ends it: nothing more will happen. */
  end(): void;
  /** Breaks it off: what is to be sent can't be had. */
  fail(error: unknown): void;
}

/** Who sends to a stream, as the stream sees it. */
export interface StreamSender {
  onRoom(): void;
  /** Nothing is to be sent any more, whoever has ended the stream. Called once. */
  onEnd(): void;
}

/** Takes a stream that has been opened, and sends to it from the next turn on. */
export type StreamSource = (stream: OpenStream) => StreamSender;

/** What a handler answers: a declared success status with its declared body. Failures are thrown as `ServiceError`. */
export type Answer<Id extends OperationId> = {
  [Status in keyof Responses<Id> & Success]: Responses<Id>[Status] extends {
    content: { 'application/json': infer B };
  }
    ? { status: Status; body: Readable<B>; headers?: Record<string, string> }
    : Responses<Id>[Status] extends { content: { 'text/event-stream': unknown } }
      ? { status: Status; stream: StreamSource }
      : { status: Status };
}[keyof Responses<Id> & Success];

/** Where a browser asks that is to get a cookie. */
export interface Site {
  /** The server's own, as the browser names it. */
  origin: string;
  /** What the browser's cookie holds, if the request names the server's own page. */
  held: string | undefined;
  /** The `Set-Cookie` that keeps the secret of a session, or what comes before one, for so many seconds; 0 has the browser forget it. */
  cookie(value: string, seconds: number): string;
}

/** Who asks, and for which workspace. */
export interface RequestContext {
  /** The workspace's UUID, from the key; empty where the operation asks for none. */
  workspaceId: string;
  /** The key's UUID, its SHA-256 in hex, and what it may do. */
  key: { id: string; hash: string; permissions: readonly string[] };
  /** UUID of the call whose token was sent in the place of a key. */
  callId: string | undefined;
  /** UUID of the session whose cookie was sent in the place of a key. */
  sessionId: string | undefined;
  /** UUID of the member that the session stands for, if that is no key: the key's UUID is the same then. */
  memberId: string | undefined;
  /** Where the browser is that asks. Throws `forbidden` where it is to get no cookie: over plain HTTP, or of another origin. */
  site(): Site;
  requestId: string;
  /** The client's network address, for the audit log. */
  address: string;
  /** Aborted when the client has gone, or the server drains. */
  signal: AbortSignal;
}

/** One operation, carried out: read the input, call one act, shape the answer. */
export type Handler<Id extends OperationId> = (input: Input<Id>, context: RequestContext) => Promise<Answer<Id>>;

/** The handlers of all operations. Each feature's `operations.ts` makes some of them; together they must be all. */
export type Handlers = { [Id in OperationId]: Handler<Id> };
