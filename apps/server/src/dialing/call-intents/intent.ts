import { type RawBuilder, sql } from 'kysely';
import type { Row } from '../../foundation/database/schema.ts';
import type { CallBackTerms, CalleeHours } from '../calls/callee-hours.ts';

/**
 * A call that somebody has asked for by itself, until it has ended or is given up. It waits while `next_attempt_at` says
 * when it is looked at; while that is null its call stands in `calls`, under the same ID.
 */
export type IntentRow = Row<'call_intents'>;

/** Of what kind intents are as owners of calls; their ID is the room's. */
export const INTENT = 'intent';

/** What names an intent, and its call. */
export interface IntentKey {
  workspaceId: string;
  roomId: string;
}

/** An intent that is to be written. */
export interface NewIntent {
  id: string;
  /** E.164 without the plus. */
  toNumber: number;
  /** The same; null where a pool is to call. */
  fromNumber: number | null;
  phoneNumberId: string | null;
  numberPoolId: string | null;
  startAt: Date;
  expiresAt: Date;
  /** Of one that an agent has asked for. */
  callBackTerms?: CallBackTerms;
  hours: Required<Pick<CalleeHours, 'timezone' | 'calleeTimeZone'>> & CalleeHours;
}

/**
 * The end of a statement that looks up one intent `t` by its key. By `=` an index that only begins with the workspace looks
 * as cheap while there are few of them, and PostgreSQL 15 would walk it.
 */
export const whereIntentIs = (workspaceId: RawBuilder<unknown>, id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`where t.workspace_id = ${workspaceId} and t.id >= ${id} and t.id <= ${id} order by t.id limit 1`;
