import type { Mock, MockOptions } from './mock.ts';
import { refuseOldNode } from './node-version.ts';

export type {
  ForcedAnswer,
  Mock,
  MockOptions,
  OperationId,
  SeenRequest,
  WebhookAnswer,
  WebhookMessage,
} from './mock.ts';

/** Starts a mock on a port of its own. Throws where this Node is too old, and where the port is taken. */
export async function startMock(options: MockOptions = {}): Promise<Mock> {
  refuseOldNode();
  const { openMock } = await import('./open-mock.ts');
  return openMock(options);
}
