import type { OperationId as AnyOperationId } from '@trunkline/client';
import type { ForcedAnswer } from './forced-answer.ts';
import type { SeenRequest } from './requests.ts';
import type { WebhookAnswer, WebhookMessage } from './send-webhook.ts';

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
