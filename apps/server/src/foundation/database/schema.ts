import type { Selectable } from 'kysely';
import type { Schema } from './generated/schema.ts';

export type { Schema } from './generated/schema.ts';

/**
 * A row of a table, as it is read. A number that is called or calls is E.164 without the plus, 0 where it was withheld; a
 * day is UTC, `YYYY-MM-DD`; times of a schedule are minutes since local midnight, its days ISO weekdays (Monday is 1).
 */
export type Row<Table extends keyof Schema> = Selectable<Schema[Table]>;

export type CallStatus = Row<'calls'>['status'];
export type CampaignStatus = Row<'campaigns'>['status'];
export type CampaignKind = Row<'campaigns'>['kind'];
export type FailureReason = NonNullable<Row<'campaigns'>['failure_reason']>;
export type ContactState = Row<'campaign_contacts'>['state'];
export type UploadStatus = Row<'contact_list_uploads'>['status'];
export type DocumentStatus = Row<'knowledge_base_documents'>['status'];
export type DocumentType = NonNullable<Row<'knowledge_base_documents'>['file_type']>;
export type RunStatus = Row<'workflow_runs'>['status'];
export type StepStatus = Row<'workflow_run_steps'>['status'];
/** Why a run or a step failed, or what a blocked run lacks. */
export type RunError = NonNullable<Row<'workflow_runs'>['error']>;
