import type { Generated, JSONColumnType } from 'kysely';
import type { BatchTables } from './schema-batches.ts';
import type { KnowledgeBaseTables } from './schema-knowledge-bases.ts';
import type { NumberPoolTables } from './schema-number-pools.ts';
import type { RunTables } from './schema-runs.ts';
import type { SimulatorTables } from './schema-simulator.ts';
import type { WebhookTables } from './schema-webhooks.ts';
import type { WorkflowTables } from './schema-workflows.ts';

// The tables of apps/server/migrations, as Kysely types them. Optional on insert: what has a default or may be null.

type Nullable<T> = T | null;
type Json<T extends object> = JSONColumnType<T, string | undefined, string>;

interface WorkspacesTable {
  id: string;
  name: string;
  max_concurrent_calls: Nullable<number>;
  max_attempts_per_person_per_day: Nullable<number>;
  max_calls_per_day: Nullable<number>;
  max_numbers_per_day: Nullable<number>;
  allowed_countries: Nullable<string[]>;
  premium_rate_allowed: Generated<boolean>;
  quiet_hours_start: Nullable<number>;
  quiet_hours_end: Nullable<number>;
  dialing_paused_at: Nullable<Date>;
  inbound_secret: Nullable<string>;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

interface WorkspaceUsageTable {
  workspace_id: string;
  /** UTC day, `YYYY-MM-DD`. */
  day: string;
  calls: Generated<number>;
  numbers_bought: Generated<number>;
}

interface ApiKeysTable {
  workspace_id: string;
  id: string;
  hash: Buffer;
  name: string;
  prefix: string;
  permissions: string[];
  expires_at: Nullable<Date>;
  revoked_at: Nullable<Date>;
  last_used_at: Nullable<Date>;
  created_at: Date;
}

interface IdempotencyKeysTable {
  workspace_id: string;
  operation: string;
  key: string;
  fingerprint: Buffer;
  resource_id: Nullable<string>;
  created_at: Date;
}

interface ServersTable {
  id: string;
  started_at: Generated<Date>;
  lease_until: Date;
}

interface EventsTable {
  workspace_id: string;
  resource_id: string;
  revision: number;
  id: string;
  type: string;
  data: Json<object>;
  created_at: Date;
}

interface AuditLogTable {
  workspace_id: string;
  id: string;
  key_id: string;
  action: string;
  resource_type: string;
  resource_id: string;
  address: string;
  request_id: string;
  created_at: Date;
}

interface PhoneNumbersTable {
  workspace_id: string;
  id: string;
  phone_number: string;
  friendly_name: Nullable<string>;
  label: Nullable<string>;
  country: Nullable<string>;
  status: 'provisioning' | 'active' | 'failed' | 'suspended' | 'released';
  provider: 'simulator' | 'twilio' | 'telnyx' | 'sip';
  provider_number_id: Nullable<string>;
  /** PostgreSQL's numeric arrives as text. */
  provider_monthly_cost: Nullable<string | number>;
  provider_currency: Nullable<string>;
  inbound_agent_id: Nullable<string>;
  inbound_agent_name: Nullable<string>;
  outbound_agent_id: Nullable<string>;
  outbound_agent_name: Nullable<string>;
  inbound_webhook_url: Nullable<string>;
  allowed_inbound_countries: Generated<string[]>;
  allowed_outbound_countries: Generated<string[]>;
  sip_termination_url: Nullable<string>;
  sip_username: Nullable<string>;
  /** Encrypted (database/secrets.ts). */
  sip_password: Nullable<string>;
  sip_transport: Nullable<'auto' | 'udp' | 'tcp' | 'tls'>;
  sip_ip_allowlist: Nullable<string[]>;
  trunk_checked_at: Nullable<Date>;
  trunk_valid: Nullable<boolean>;
  trunk_detail: Nullable<string>;
  due_at: Nullable<Date>;
  releasing_from: Nullable<'active' | 'suspended'>;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

interface ContactListsTable {
  workspace_id: string;
  id: string;
  name: string;
  type: 'contacts' | 'dnd' | 'batch';
  status: 'draft' | 'ready' | 'archived';
  default_country: Nullable<string>;
  columns: Generated<string[]>;
  total_entries: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

/** States of an upload (decisions.md, "Contact lists"). */
export type UploadStatus =
  | 'pending'
  | 'uploaded'
  | 'validating'
  | 'validated'
  | 'processing'
  | 'processed'
  | 'failed'
  | 'expired';

interface ContactListUploadsTable {
  workspace_id: string;
  id: string;
  list_id: string;
  file_name: string;
  storage_key: string;
  status: UploadStatus;
  url_expires_at: Date;
  uploaded_at: Nullable<Date>;
  validated_at: Nullable<Date>;
  processed_at: Nullable<Date>;
  rows_read: Generated<number>;
  bytes_read: Generated<number>;
  bytes_total: Generated<number>;
  total_rows: Generated<number>;
  valid_rows: Generated<number>;
  invalid_rows: Generated<number>;
  duplicate_rows: Generated<number>;
  imported_rows: Generated<number>;
  error_rows: Generated<number[]>;
  error_report_key: Nullable<string>;
  failure_code: Nullable<string>;
  failure_message: Nullable<string>;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

interface ContactListEntriesTable {
  workspace_id: string;
  upload_id: string;
  /** E.164 without the plus. */
  phone_number: number;
  row_number: number;
  name: Nullable<string>;
  timezone: Nullable<string>;
  /** Aligned to the list's `columns`; shorter where later columns are missing. */
  values: Nullable<string>[];
}

interface DoNotCallTable {
  workspace_id: string;
  phone_number: number;
  reason: Nullable<string>;
  created_at: Date;
}

export type CampaignStatus =
  | 'draft'
  | 'scheduled'
  | 'running'
  | 'paused'
  | 'completed'
  | 'stopped'
  | 'cancelled'
  | 'failed';

export type CampaignKind = 'campaign' | 'batch';

export type FailureReason =
  | 'no_callable_contacts'
  | 'no_outbound_number'
  | 'agent_unavailable'
  | 'billing'
  | 'trunk_failure'
  | 'internal';

interface CampaignsTable {
  workspace_id: string;
  id: string;
  kind: Generated<CampaignKind>;
  name: string;
  description: Nullable<string>;
  agent_id: string;
  agent_name: Nullable<string>;
  direction: 'outbound' | 'inbound';
  phone_number_id: Nullable<string>;
  number_pool_id: Nullable<string>;
  status: CampaignStatus;
  timezone: string;
  scheduled_at: Nullable<Date>;
  start_date: Nullable<Date>;
  end_date: Nullable<Date>;
  /** Minutes since local midnight. */
  schedule_start: Nullable<number>;
  schedule_end: Nullable<number>;
  /** ISO weekdays, Monday is 1. */
  schedule_days: number[];
  max_concurrency: number;
  calls_per_second: Nullable<number>;
  /** Minutes before attempt 2, 3, … */
  retry_policy: number[];
  target_call_count: Nullable<number>;
  target_conversion_rate: Nullable<number>;
  ring_timeout_seconds: number;
  max_call_seconds: number;
  /** What every call of a batch carries. */
  metadata: Nullable<Json<Record<string, string>>>;
  started_at: Nullable<Date>;
  paused_at: Nullable<Date>;
  resumed_at: Nullable<Date>;
  stopped_at: Nullable<Date>;
  cancelled_at: Nullable<Date>;
  ended_at: Nullable<Date>;
  failure_reason: Nullable<FailureReason>;
  next_claim_at: Generated<Date>;
  next_start_at: Generated<Date>;
  in_flight: Generated<number>;
  contacts_added: Generated<boolean>;
  adding_uploads: Generated<string[]>;
  adding_after_row: Generated<number>;
  total_contacts: Generated<number>;
  pending: Generated<number>;
  waiting: Generated<number>;
  done: Generated<number>;
  skipped: Generated<number>;
  attempts: Generated<number>;
  conversions: Generated<number>;
  answered: Generated<number>;
  voicemail: Generated<number>;
  busy: Generated<number>;
  no_answer: Generated<number>;
  declined: Generated<number>;
  invalid_number: Generated<number>;
  do_not_call: Generated<number>;
  trunk_error: Generated<number>;
  agent_error: Generated<number>;
  cancelled: Generated<number>;
  unknown: Generated<number>;
  revision: Generated<number>;
  created_at: Date;
  updated_at: Date;
}

interface CampaignListsTable {
  workspace_id: string;
  campaign_id: string;
  list_id: string;
  role: 'contacts' | 'dnd';
  position: Generated<number>;
}

interface CampaignLanesTable {
  workspace_id: string;
  campaign_id: string;
  lane: number;
  timezone: string;
  opens_at: Date;
  closes_at: Date;
}

export type ContactState = 'pending' | 'waiting' | 'dialing' | 'done' | 'skipped';

interface CampaignContactsTable {
  workspace_id: string;
  campaign_id: string;
  id: string;
  list_id: string;
  phone_number: number;
  name: Nullable<string>;
  values: Nullable<string>[];
  lane: number;
  state: ContactState;
  attempt: Generated<number>;
  tries: Generated<number>;
  faults: Generated<number>;
  agent_faults: Generated<number>;
  next_attempt_at: Date;
  last_outcome: Nullable<string>;
  reason: Nullable<string>;
  external_id: Nullable<string>;
  metadata: Nullable<Json<Record<string, string>>>;
}

export type CallStatus = 'queued' | 'dialing' | 'ringing' | 'in_progress' | 'completed' | 'failed' | 'cancelled';

interface CallsTable {
  workspace_id: string;
  id: string;
  status: CallStatus;
  outcome: Nullable<string>;
  direction: 'outbound' | 'inbound';
  simulated: boolean;
  /** 0 where an inbound caller withheld the number. */
  from_number: number;
  to_number: number;
  agent_id: Nullable<string>;
  phone_number_id: string;
  /** Whether it counts on its number's usage. */
  pooled: Generated<boolean>;
  campaign_id: Nullable<string>;
  contact_id: Nullable<string>;
  workflow_run_id: Nullable<string>;
  attempt: number;
  server_id: Nullable<string>;
  start_at: Date;
  place_before: Date;
  ring_timeout_seconds: number;
  max_call_seconds: number;
  metadata: Json<Record<string, string>>;
  /** What the agent is told on the call of a run; a contact's values stand with the contact. */
  variables: Nullable<Json<Record<string, string>>>;
  queued_at: Date;
  dialed_at: Nullable<Date>;
  ringing_at: Nullable<Date>;
  answered_at: Nullable<Date>;
  ended_at: Nullable<Date>;
  ended_by: Nullable<string>;
  end_requested_at: Nullable<Date>;
  sip_status: Nullable<number>;
  result: Nullable<Json<object>>;
}

export interface Schema
  extends BatchTables,
    KnowledgeBaseTables,
    NumberPoolTables,
    RunTables,
    SimulatorTables,
    WebhookTables,
    WorkflowTables {
  workspaces: WorkspacesTable;
  workspace_usage: WorkspaceUsageTable;
  api_keys: ApiKeysTable;
  idempotency_keys: IdempotencyKeysTable;
  servers: ServersTable;
  events: EventsTable;
  audit_log: AuditLogTable;
  phone_numbers: PhoneNumbersTable;
  contact_lists: ContactListsTable;
  contact_list_uploads: ContactListUploadsTable;
  contact_list_entries: ContactListEntriesTable;
  do_not_call: DoNotCallTable;
  campaigns: CampaignsTable;
  campaign_lists: CampaignListsTable;
  campaign_lanes: CampaignLanesTable;
  campaign_contacts: CampaignContactsTable;
  calls: CallsTable;
}
