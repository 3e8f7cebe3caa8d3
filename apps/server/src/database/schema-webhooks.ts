import type { Generated } from 'kysely';

type Nullable<T> = T | null;

interface WebhooksTable {
  workspace_id: string;
  id: string;
  url: string;
  description: Nullable<string>;
  event_types: string[];
  status: 'enabled' | 'disabled';
  disabled_reason: Nullable<'requested' | 'gone'>;
  /** Encrypted (database/secrets.ts), as is the next. */
  secret: string;
  previous_secret: Nullable<string>;
  previous_secret_until: Nullable<Date>;
  server_id: Nullable<string>;
  resting_until: Nullable<Date>;
  ending_before: Nullable<Date>;
  deleted_at: Nullable<Date>;
  created_at: Date;
  updated_at: Date;
}

interface WebhookDeliveriesTable {
  workspace_id: string;
  webhook_id: string;
  id: string;
  event_id: string;
  event_type: string;
  order_key: string;
  order_number: number;
  /** The body as it is sent, JSON. */
  payload: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: Generated<number>;
  last_status_code: Nullable<number>;
  last_error: Nullable<string>;
  last_duration_ms: Nullable<number>;
  next_attempt_at: Nullable<Date>;
  delivered_at: Nullable<Date>;
  created_at: Date;
}

interface EventsToHandOverTable {
  workspace_id: string;
  resource_id: string;
  revision: number;
  /** The endpoints that wanted the event when it happened. */
  webhook_ids: string[];
}

/** The tables of webhooks. */
export interface WebhookTables {
  events_to_hand_over: EventsToHandOverTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
}
