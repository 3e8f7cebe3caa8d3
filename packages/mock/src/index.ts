export type {
  ForcedAnswer,
  Mock,
  MockOptions,
  OperationId,
  SeenRequest,
  WebhookAnswer,
  WebhookMessage,
} from './mock.ts';
export { startMock } from './start-mock.ts';
