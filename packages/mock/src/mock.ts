import type { IncomingMessage } from 'node:http';
import type { OperationId as AnyOperationId, WebhookEvent } from '@trunkline/client';

/** The name of an operation in the contract, such as `startCampaign`. */
export type OperationId = Exclude<AnyOperationId, `on${Capitalize<string>}`>;

export interface MockOptions {
  /** Any free one by default. */
  port?: number;
  /** `127.0.0.1` by default. */
  host?: string;
  /** Told of each request once it is answered. */
  onRequest?: (request: SeenRequest) => void;
}

/** A mock that runs. */
export interface Mock {
  /** What a client takes as its base URL. */
  url: string;
  /** What it was sent, the first first. */
  requests: SeenRequest[];
  /** Has an operation answer with a status, an example, or both, until `reset`. Throws where the contract has no such answer. */
  force(operationId: OperationId, answer: ForcedAnswer): void;
  /** Forgets what was forced, and what was sent. */
  reset(): void;
  /** Sends a webhook, signed, and resolves to what its receiver answered. */
  sendWebhook(message: WebhookMessage): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

/** Which of the contract's answers is wanted. */
export interface ForcedAnswer {
  /** One that the operation declares; its success by default. */
  status?: number;
  /** The name of one of the contract's examples for this status; the first by default. */
  example?: string;
}

/** A request that the mock was sent. */
export interface SeenRequest {
  /** Nothing for a path or a method that the contract has not. */
  operationId?: OperationId;
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingMessage['headers'];
  /** JSON as it was parsed, and anything else as text; files of a form are not kept. */
  body: unknown;
  /** Once it is answered. */
  status?: number;
}

/** A webhook to be sent. */
export interface WebhookMessage {
  /** Any type of the contract, such as `call.ended`. */
  type: WebhookEvent['type'];
  url: string;
  /** `whsec_` and Base64: what the receiver checks the signature with. */
  secret: string;
  /** Fields that stand in the place of the example's, such as a `roomId`. */
  data?: Record<string, unknown>;
}

/** What the receiver answered. */
export interface WebhookAnswer {
  status: number;
  body: string;
}
