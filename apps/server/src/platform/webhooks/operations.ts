import { listed, pageAnswer, pageOf, several } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { InTestSlot } from '../../foundation/outbound-http/test-slots.ts';
import { tagged } from '../../foundation/values/edition.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../journal/audit-of.ts';
import { createWebhook } from './create-webhook.ts';
import { deleteWebhook } from './delete-webhook.ts';
import { presentDelivery } from './delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { replayDelivery } from './replay-delivery.ts';
import { rotateSecret } from './rotate-secret.ts';
import { deliveryPage, findWebhook, webhookPage } from './store.ts';
import { testWebhook } from './test-webhook.ts';
import { updateWebhook } from './update-webhook.ts';
import { presentWebhook } from './webhook.ts';

/** The operations of the tag "Webhooks". */
export function webhookOperations(deps: WebhookDeps & { inTestSlot: InTestSlot }) {
  const { database } = deps;
  return {
    listWebhooks: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, webhookPage, presentWebhook)),

    createWebhook: async ({ body, headers }, context) => {
      const asked = { idempotencyKey: headers['Idempotency-Key'], apiKeyId: context.key.id };
      const { made, replayed } = await createWebhook(deps, context.workspaceId, body, auditOf(context), asked);
      const { row, secret } = made;
      return tagged(replayable(created({ ...presentWebhook(row), secret }), replayed), row);
    },

    getWebhook: async ({ path }, { workspaceId }) => {
      const row = await existing(database.inWorkspace(workspaceId, (tx) => findWebhook(tx, fromId(path.webhookId))));
      return tagged(ok(presentWebhook(row)), row);
    },

    updateWebhook: async ({ path, body, headers }, context) => {
      const { workspaceId } = context;
      const id = fromId(path.webhookId);
      const row = await updateWebhook(deps, workspaceId, id, body, auditOf(context), headers['If-Match']);
      return tagged(ok(presentWebhook(row)), row);
    },

    deleteWebhook: async ({ path }, context) => {
      await deleteWebhook(deps, context.workspaceId, fromId(path.webhookId), auditOf(context));
      return ok({ id: path.webhookId, deleted: true });
    },

    rotateWebhookSecret: async ({ path, headers }, context) => {
      const [id, asked] = [
        fromId(path.webhookId),
        { idempotencyKey: headers['Idempotency-Key'], apiKeyId: context.key.id },
      ];
      const { made, replayed } = await rotateSecret(deps, context.workspaceId, id, auditOf(context), asked);
      const { row, secret } = made;
      return tagged(replayable(ok({ ...presentWebhook(row), secret }), replayed), row);
    },

    testWebhook: async ({ path }, context) => {
      const { workspaceId } = context;
      const test = () => testWebhook(deps, workspaceId, fromId(path.webhookId), auditOf(context));
      const row = await deps.inTestSlot(workspaceId, test);
      return ok(presentDelivery(row));
    },

    listWebhookDeliveries: async ({ path, query }, { workspaceId }) => {
      const page = pageOf(query);
      const { eventType } = query;
      const webhookId = fromId(path.webhookId);
      const found = await database.inSnapshot(workspaceId, async (tx) => {
        await existing(findWebhook(tx, webhookId));
        return deliveryPage(tx, { ...page, webhookId, statuses: several(query.status), eventType });
      });
      return ok(pageAnswer(page, found, presentDelivery));
    },

    replayWebhookDelivery: async ({ path, headers }, context) => {
      const ids = { webhookId: fromId(path.webhookId), deliveryId: fromId(path.deliveryId) };
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await replayDelivery(deps, context.workspaceId, ids, auditOf(context), key);
      const body = { success: true as const, data: presentDelivery(made) };
      return replayable({ status: 202 as const, body }, replayed);
    },
  } satisfies Partial<Handlers>;
}
