import type { Row } from '../../src/foundation/database/schema.ts';
import type { LossName } from './options.ts';

/** What a client was promised by a 2xx. IDs are UUIDs, numbers E.164 digits. */
export type Promised =
  | {
      kind: 'campaign';
      id: string;
      contacts: number;
      windows: Window;
      zones: Map<number, string>;
      refused: number[];
      /** Whether it was stopped: its contacts stay as they were then. */
      isStopped: boolean;
    }
  | { kind: 'batch'; id: string; contacts: number }
  | { kind: 'call'; id: string }
  | { kind: 'run'; id: string; person: number }
  | { kind: 'upload'; id: string; rows: number }
  | { kind: 'document'; id: string };

/** Minutes since local midnight, of every day; it may go over midnight. */
export interface Window {
  start: number;
  end: number;
}

/** A time in which nobody may be called for a campaign or a batch, as its client was told: it was paused, or stopped for good. */
export interface Silence {
  /** UUID. */
  campaign: string;
  from: number;
  to: number;
}

/** An answer that no client should have got. */
export interface WrongAnswer {
  operation: string;
  what: string;
}

/** A stream as its reader saw it, over however many connections. */
export interface StreamSeen {
  kind: 'campaign' | 'run' | 'upload';
  /** UUID of the resource. */
  resource: string;
  /** Revisions, in the order in which they came. */
  seen: number[];
  /** The same, with what was told. */
  told: { revision: number; type: string; status: string }[];
  /** Whether the server has ended it for good. */
  ended: boolean;
}

/** A call as the simulated provider keeps it. Instants are milliseconds of its clock. */
export interface Placed {
  roomId: string;
  to: number;
  placements: number;
  placedAt: number;
  endedAt: number;
  /** Who ended it before its plan did. */
  endedBy: string | null;
}

/** A call over SIP as the carrier saw it. */
interface SeenByCarrier {
  callId: string;
  at: number;
  answeredAt?: number;
  endedAt?: number;
  /** Who hung up an answered call. */
  endedBy?: 'local' | 'remote';
  /** The name of the server at the other end. */
  server: string | undefined;
}

/** A call to somebody behind the carrier. */
export interface Invited extends SeenByCarrier {
  to: number;
}

/** A call to us; each of them comes from a number of its own. */
export interface Arrived extends SeenByCarrier {
  from: number;
}

/** A webhook's request as it came. */
export interface Delivered {
  eventId: string;
  type: string;
  body: string;
  at: number;
}

/** A request of an `http` node as it came. */
export interface Asked {
  key: string;
  person: number;
}

/** A fault as it was done: from when to when, and to which server. */
export interface FaultDone {
  name: string;
  what: string;
  /** The name of the one server that it was done to, where it was one. */
  server: string | undefined;
  from: number;
  to: number;
}

/** How a database has lost its last commits. */
export interface Loss {
  by: LossName;
  /** When what it has lost began, or before. */
  from: number;
  /** When all servers said that dialing is held. */
  heldAt: number | undefined;
  /** When the operator began to confirm it. */
  confirmedAt: number | undefined;
}

export type CallOfHistory = Pick<
  Row<'calls'>,
  | 'id'
  | 'status'
  | 'outcome'
  | 'ended_by'
  | 'to_number'
  | 'from_number'
  | 'direction'
  | 'attempt'
  | 'campaign_id'
  | 'owner_kind'
  | 'owner_id'
  | 'trunk_id'
  | 'dialed_at'
  | 'ended_at'
  | 'end_requested_at'
>;
export type CampaignOfHistory = Pick<
  Row<'campaigns'>,
  'id' | 'status' | 'total_contacts' | 'max_concurrency' | 'calls_per_second' | 'retry_policy'
> & { kept: Record<string, number>; counted: Record<string, number> };
export type ContactOfHistory = Pick<
  Row<'campaign_contacts'>,
  'id' | 'campaign_id' | 'phone_number' | 'state' | 'reason' | 'last_outcome'
>;
export type RunOfHistory = Pick<Row<'workflow_runs'>, 'id' | 'status' | 'revision' | 'parent_run_id'> & {
  steps: number[];
  nodes: string[];
};
export type EventOfHistory = Pick<Row<'events'>, 'id' | 'resource_id' | 'revision' | 'type'>;

/** All that a run of chaos has left: what clients know, what the provider knows, and what the database holds. */
export interface History {
  promised: Promised[];
  silences: Silence[];
  wrongAnswers: WrongAnswer[];
  streams: StreamSeen[];
  placed: Placed[];
  invited: Invited[];
  arrived: Arrived[];
  delivered: Delivered[];
  asked: Asked[];
  faults: FaultDone[];
  /** What was lost since that; absent where nothing was. */
  loss?: Loss | undefined;
  calls: CallOfHistory[];
  campaigns: CampaignOfHistory[];
  contacts: ContactOfHistory[];
  runs: RunOfHistory[];
  /** Of files; not what is kept of batches in their form. */
  uploads: Pick<Row<'contact_list_uploads'>, 'id' | 'status' | 'imported_rows'>[];
  documents: Pick<Row<'knowledge_base_documents'>, 'id' | 'status'>[];
  events: EventOfHistory[];
  /** What is still to be done, a line each. */
  open: string[];
  limits: { workspaceCalls: number; trunkChannels: number; trunkCallsPerSecond: number; maxCallMs: number };
}
