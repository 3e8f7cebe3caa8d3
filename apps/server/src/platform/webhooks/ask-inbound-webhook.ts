import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { SendRequest } from '../../foundation/outbound-http/guarded-request.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { inboundSecretPlace } from '../workspace/inbound-secret.ts';
import type { WebhookMetrics } from './metrics.ts';
import { type InboundDecision, readInboundDecision } from './read-inbound-decision.ts';
import { createSigner } from './try-delivery.ts';
import { newSecret } from './webhook.ts';

const ASK_MS = 5000;
const MOST_BYTES = 262_144;

export interface AskInboundDeps {
  database: Database;
  clock: Clock;
  log: Logger;
  secrets: Secrets;
  send: SendRequest;
  metrics: WebhookMetrics;
}

/** A call that arrives, as the webhook of its number is told of it. */
export interface ArrivingCall {
  workspaceId: string;
  roomId: string;
  phoneNumberId: string;
  /** E.164. */
  to: string;
  from?: string;
  webhookUrl: string;
}

/**
 * Asks the `inboundWebhookUrl` of a number, once and for five seconds, what becomes of a call (webhooks.md, "Who takes an inbound call").
 * Whatever fails is logged and counted, and comes out as `{}`: the agent that is bound to the number takes the call.
 */
export async function askInboundWebhook(deps: AskInboundDeps, call: ArrivingCall): Promise<InboundDecision> {
  const { clock, log, send, metrics } = deps;
  const { roomId, phoneNumberId, to, from, webhookUrl } = call;
  const data = {
    roomId: toId('room', roomId),
    phoneNumberId: toId('pn', phoneNumberId),
    ...(from !== undefined && { fromNumber: from }),
    toNumber: to,
  };
  const payload = JSON.stringify({ type: 'call.inbound', timestamp: clock.now().toISOString(), data });
  try {
    const headers = createSigner([await inboundSecret(deps, call.workspaceId)])({ eventId: newUuid(), payload });
    const answer = await send({
      workspaceId: call.workspaceId,
      method: 'POST',
      url: webhookUrl,
      headers,
      body: payload,
      timeoutMs: ASK_MS,
      maxBytes: MOST_BYTES,
    });
    const decision = readInboundDecision(answer);
    metrics.asked('reject' in decision ? 'rejected' : 'accepted');
    return decision;
  } catch (error) {
    log.warn({ err: error, ...data }, 'an inbound webhook gave no valid answer; the bound agent takes the call');
    metrics.asked('failed');
    return {};
  }
}

/** The workspace's secret; where it has none yet, one that nobody knows signs. */
async function inboundSecret({ database, secrets }: AskInboundDeps, workspaceId: string): Promise<string> {
  const row = await database.inWorkspace(workspaceId, (tx) =>
    tx.db.selectFrom('workspaces').select('inbound_secret').where('id', '=', workspaceId).executeTakeFirstOrThrow(),
  );
  if (row.inbound_secret === null) return newSecret();
  return secrets.decrypt(row.inbound_secret, inboundSecretPlace(workspaceId));
}
