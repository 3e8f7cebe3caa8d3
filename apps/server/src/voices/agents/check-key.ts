import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import type { InTestSlot } from '../../foundation/outbound-http/test-slots.ts';
import { refuse, ServiceError } from '../../foundation/values/service-error.ts';
import type { RealtimeConnection } from '../../lines/telephony/agent-connection.ts';
import { tryModel } from './try-model.ts';

/** What the vendor answers to a key that it doesn't know, or doesn't let do this. */
const REFUSED = [401, 403];

/**
 * Opens a session with a model once, and throws `invalid_request` if its key is refused. Whatever else is in the way may pass:
 * a test of the agent tells it.
 */
export async function checkKey(
  { guard, inTestSlot }: { guard: AddressGuard; inTestSlot: InTestSlot },
  workspaceId: string,
  connection: RealtimeConnection,
): Promise<void> {
  const tried = await inTestSlot(workspaceId, () => tryModel(guard, workspaceId, connection, 0)).catch((error) => {
    if (error instanceof ServiceError) return undefined;
    throw error;
  });
  if (!tried || tried.connected.connected) return;
  const { statusCode, isKeyRefused = false, text } = tried.connected;
  const isRefused = statusCode !== undefined && REFUSED.includes(statusCode);
  if (!isRefused && !isKeyRefused) return;
  const said = isRefused ? `the model answered ${statusCode}` : text.replace(/\.$/, '');
  refuse([{ path: '/body/connection/apiKey', message: `was refused: ${said}` }]);
}
