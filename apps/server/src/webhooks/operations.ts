import { pageAnswer, pageOf } from '../database/page.ts';
import type { Handlers } from '../http/handler.ts';
import { fromId } from '../ids.ts';
import { auditOf } from '../journal/audit-of.ts';
import { notFound } from '../service-error.ts';
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
export function webhookOperations(deps: WebhookDeps) {
  const { database } = deps;
  return {
    listWebhooks: async ({ query }, { workspaceId }) => {
      const page = pageOf(query);
      const found = await database.inSnapshot(workspaceId, (tx) => webhookPage(tx, page));
      return { status: 200, body: { success: true, data: pageAnswer(page, found, presentWebhook) } };
    },

    createWebhook: async ({ body }, context) => {
      const { row, secret } = await createWebhook(deps, context.workspaceId, body, auditOf(context));
      return { status: 201, body: { success: true, data: { ...presentWebhook(row), secret } } };
    },

    getWebhook: async ({ path }, { workspaceId }) => {
      const row = await database.inWorkspace(workspaceId, (tx) => findWebhook(tx, fromId(path.webhookId)));
      if (!row) throw notFound();
      return { status: 200, body: { success: true, data: presentWebhook(row) } };
    },

    updateWebhook: async ({ path, body }, context) => {
      const row = await updateWebhook(deps, context.workspaceId, fromId(path.webhookId), body, auditOf(context));
      return { status: 200, body: { success: true, data: presentWebhook(row) } };
    },

    deleteWebhook: async ({ path }, context) => {
      await deleteWebhook(deps, context.workspaceId, fromId(path.webhookId), auditOf(context));
      return { status: 200, body: { success: true, data: { id: path.webhookId, deleted: true } } };
    },

    rotateWebhookSecret: async ({ path }, context) => {
      const { row, secret } = await rotateSecret(deps, context.workspaceId, fromId(path.webhookId), auditOf(context));
      return { status: 200, body: { success: true, data: { ...presentWebhook(row), secret } } };
    },

    testWebhook: async ({ path }, context) => {
      const row = await testWebhook(deps, context.workspaceId, fromId(path.webhookId), auditOf(context));
      return { status: 200, body: { success: true, data: presentDelivery(row) } };
    },

    listWebhookDeliveries: async ({ path, query }, { workspaceId }) => {
      const page = pageOf(query);
      const { status, eventType } = query;
      const webhookId = fromId(path.webhookId);
      const found = await database.inSnapshot(workspaceId, async (tx) => {
        if (!(await findWebhook(tx, webhookId))) throw notFound();
        return deliveryPage(tx, { ...page, webhookId, status, eventType });
      });
      return { status: 200, body: { success: true, data: pageAnswer(page, found, presentDelivery) } };
    },

    replayWebhookDelivery: async ({ path }, context) => {
      const ids = { webhookId: fromId(path.webhookId), deliveryId: fromId(path.deliveryId) };
      const row = await replayDelivery(deps, context.workspaceId, ids, auditOf(context));
      return { status: 202, body: { success: true, data: presentDelivery(row) } };
    },
  } satisfies Partial<Handlers>;
}
