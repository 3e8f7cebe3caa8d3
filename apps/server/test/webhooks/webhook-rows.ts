import { randomBytes } from 'node:crypto';
import type { Database } from '../../src/database/database.ts';
import { createSecrets } from '../../src/database/secrets.ts';
import { insertWebhook } from '../../src/webhooks/store.ts';
import { newSecret, secretPlace } from '../../src/webhooks/webhook.ts';

const secrets = createSecrets(randomBytes(32));

/** An endpoint, written straight into the database. */
export async function createEndpointRow(
  database: Database,
  workspaceId: string,
  { id, types, now = new Date() }: { id: string; types: string[]; now?: Date },
): Promise<string> {
  await database.inWorkspace(workspaceId, (tx) =>
    insertWebhook(tx, {
      id,
      url: 'https://crm.example.com/',
      event_types: types,
      status: 'enabled',
      secret: secrets.encrypt(newSecret(), secretPlace(workspaceId, id)),
      created_at: now,
      updated_at: now,
    }),
  );
  return id;
}
