import type { OperationId } from './handler.ts';

/**
 * The operations that answer 501 `not_implemented`. What stands neither here nor among the handlers of `compose.ts`
 * doesn't compile. To build one, take its name out and hand its handler over.
 */
export const notImplemented = [
  // Knowledge bases
  'listKnowledgeBases',
  'createKnowledgeBase',
  'getKnowledgeBase',
  'updateKnowledgeBase',
  'deleteKnowledgeBase',
  'addKnowledgeBaseDocuments',
  'getKnowledgeBaseDocument',
  'deleteKnowledgeBaseDocument',
  'searchKnowledgeBase',
  // Webhooks
  'listWebhooks',
  'createWebhook',
  'getWebhook',
  'updateWebhook',
  'deleteWebhook',
  'rotateWebhookSecret',
  'testWebhook',
  'listWebhookDeliveries',
  'replayWebhookDelivery',
  // Batches
  'listBatches',
  'startBatch',
  'getBatch',
  'cancelBatch',
] as const satisfies readonly OperationId[];

/** The operations that must have a handler. */
export type BuiltOperationId = Exclude<OperationId, (typeof notImplemented)[number]>;
