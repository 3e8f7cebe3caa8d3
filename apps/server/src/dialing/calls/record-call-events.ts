import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../foundation/database/database.ts';
import { isUnavailable } from '../../foundation/database/errors.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { together } from '../../foundation/database/together.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { coalesce } from '../../foundation/values/coalesce.ts';
import type { AgentEnd } from '../../lines/media/agent-end.ts';
import type { Answered } from '../../lines/media/answered/answered-voice.ts';
import { noteEnds } from '../../lines/number-pools/note-ends.ts';
import type { CallEvent } from '../../lines/telephony/call-gateway.ts';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';
import { given } from '../../lines/trunks/trunk.ts';
import { type EndOfAgent, type HeardAgent, newsOfAgents, newsOfHeard } from '../../voices/agents/agent-ends.ts';
import { type AgentKey, agentNotes, type NoteAgents } from '../../voices/agents/agent-health.ts';
import { callTransitions, type EndedCall, finalStatus, type HeldCall } from './call.ts';
import type { RecordCallEvents } from './call-events.ts';
import type { CallOwners } from './call-owner.ts';
import { type OwnedRow, ownedColumns, toOwned } from './call-row.ts';
import { type EndOverTrunk, noteTrunkEnds } from './note-trunk-ends.ts';
import { tellOfFailures } from './tell-of-failures.ts';

/** How long events are gathered before they are written as a set (dialing.md, "Ends and counters"), in milliseconds. */
const FLUSH_MS = 20;
/** How long they are gathered where a set took long to write, in milliseconds. */
const MOST_FLUSH_MS = 100;
/** The most calls that one set writes. */
const FLUSH_SIZE = 500;
/** How long it is gathered which agents were heard, in milliseconds: each writes its own row at most so often. */
const HEARD_MS = 500;
/** How long what could not be written waits, in milliseconds. */
const RETRY_MS = 500;

/** What is known of a call since the last flush. */
interface Progress {
  ringingAt?: Date;
  answeredAt?: Date;
  answered?: Answered;
  ended?: CallEvent & { type: 'ended' };
}

interface Progressed {
  call: HeldCall;
  progress: Progress;
}

/** Writes what providers tell of calls. */
export interface CallRecorder {
  record(events: CallEvent[]): void;
  /** Resolves when everything recorded so far is written, or can't be now. */
  idle(): Promise<void>;
}

export interface RecorderOptions {
  database: Database;
  owners: Pick<CallOwners, 'lock' | 'onCallsEnded' | 'onCallsSetAside'>;
  recordEvents: RecordCallEvents;
  /** The call of a room that this process holds. */
  callOf: (roomId: string) => HeldCall | undefined;
  clock: Clock;
  log: Logger;
  /** Called after the end of some calls was committed, with those among them that hadn't ended before. */
  onWritten: (ending: HeldCall[], ended: EndedCall[]) => void;
  /** Called with agents for whom nobody is to be called from now on, after that was committed. */
  onAgentsFailing: (agents: AgentKey[]) => Promise<void>;
}

/**
 * Gathers the events of the calls that this process holds and writes them in sets. Events may come twice, late or out
 * of order: a call only moves forward, and ends once.
 */
export function createCallRecorder(options: RecorderOptions): CallRecorder {
  const { callOf, clock, database, log } = options;
  const noteAgents = agentNotes();
  const gathered = new Map<string, Progress>();
  /** Those that could not be written, and don't wait to be already. */
  let failed: string[] = [];
  let retry: NodeJS.Timeout | undefined;

  const note = (event: CallEvent) => {
    const call = callOf(event.roomId);
    if (!call) return;
    if (event.type === 'agent_heard') {
      void noteHeard({ workspaceId: call.workspaceId, agentId: event.agentId, at: event.at });
      return;
    }
    const known = gathered.get(event.roomId);
    const progress = known ?? {};
    if (event.type === 'ringing') progress.ringingAt ??= event.at;
    else if (event.type === 'answered') progress.answeredAt ??= event.at;
    else if (event.type === 'answered_by') progress.answered = event.answered;
    else if (event.type === 'ended') progress.ended ??= event;
    if (known) return;
    gathered.set(event.roomId, progress);
    void flush(event.roomId);
  };

  const flush = coalesce(
    async (rooms: string[]) => {
      const taken = rooms.flatMap((roomId) => {
        const progress = gathered.get(roomId);
        gathered.delete(roomId);
        const call = callOf(roomId);
        return call && progress ? [{ call, progress }] : [];
      });
      if (taken.length > 0) await write(taken);
    },
    { ms: FLUSH_MS, mostMs: MOST_FLUSH_MS, atMost: FLUSH_SIZE },
  );

  /** An agent is known to be heard before its first call is over: until then few of its calls are placed. */
  const noteHeard = coalesce(
    async (heard: HeardAgent[]) => {
      try {
        await database.inEngine((tx) => noteAgents(tx, newsOfHeard(heard), clock.now()));
      } catch (error) {
        log.warn({ err: error }, 'that agents were heard could not be written; the ends of their calls tell it again');
      }
    },
    { ms: HEARD_MS },
  );

  /** What the database refuses every time must not keep the others waiting. */
  async function write(taken: Progressed[]): Promise<void> {
    try {
      const { ended, failing } = await writeProgress({ ...options, noteAgents }, taken);
      const ending = taken.filter(({ progress }) => progress.ended).map(({ call }) => call);
      tellOfFailures(log, ended);
      if (ending.length > 0) options.onWritten(ending, ended);
      if (failing.length > 0) void options.onAgentsFailing(failing);
    } catch (error) {
      const half = Math.ceil(taken.length / 2);
      if (taken.length > 1 && !isUnavailable(error)) {
        await write(taken.slice(0, half));
        return write(taken.slice(half));
      }
      log.error({ err: error, calls: taken.length }, 'call events could not be written; they are tried again');
      for (const { call, progress } of taken) {
        const since = gathered.get(call.roomId);
        gathered.set(call.roomId, { ...since, ...progress });
        if (!since) failed.push(call.roomId);
      }
      retry ??= setTimeout(tryAgain, RETRY_MS);
    }
  }

  const tryAgain = () => {
    clearTimeout(retry);
    retry = undefined;
    const again = failed;
    failed = [];
    for (const roomId of again) void flush(roomId);
  };

  return {
    record: (events) => {
      for (const event of events) note(event);
    },
    idle: async () => {
      if (retry) tryAgain();
      await Promise.all([flush.idle(), noteHeard.idle()]);
    },
  };
}

/** Moves calls forward in the database, with all that follows. @returns those that have ended by it, and whose agents fail */
async function writeProgress(
  { database, owners, recordEvents, noteAgents, clock }: RecorderOptions & { noteAgents: NoteAgents },
  taken: readonly Progressed[],
): Promise<{ ended: EndedCall[]; failing: AgentKey[] }> {
  const ending = taken.filter(({ progress }) => progress.ended).map(({ call }) => call);
  const now = clock.now();
  return database.inHotLoop(async (tx) => {
    const move = moveOf(taken);
    const [, { rows }] = await together(tx, [() => owners.lock(tx, ending), move]);
    const moved = new Set(rows.map((row) => row.id));
    const answered = taken.filter(({ call, progress }) => progress.answeredAt && moved.has(call.roomId));
    const answeredCalls = answered.map(({ call }) => call);
    const ends = new Map(taken.map(({ call, progress }) => [call.roomId, progress.ended]));
    const [aside, failing] = await together(tx, [
      () =>
        noteTrunkEnds(
          tx,
          rows.flatMap((row) => overTrunk(row, ends.get(row.id))),
          now,
        ),
      () => noteAgents(tx, newsOfAgents(rows.flatMap((row) => ofAgent(row, ends.get(row.id)?.agentEnd))), now),
    ]);
    const calls = rows.flatMap(ended).map((call) => {
      const [setAside, test] = [aside.now.get(call.roomId), ends.get(call.roomId)?.test];
      return { ...call, ...(setAside && { setAside }), ...(test && { test }) };
    });
    if (aside.before.length > 0) await owners.onCallsSetAside(tx, aside.before, now);
    await together(tx, [
      () => owners.onCallsEnded(tx, calls, now),
      () => recordEvents(tx, 'call.answered', answeredCalls),
    ]);
    // A trunk without room says nothing of its numbers.
    const pooled = calls.filter((call) => call.pooled && call.setAside !== 'trunk_busy');
    await noteEnds(tx, pooled, now);
    return { ended: calls, failing };
  });
}

/** Moves calls forward, and keeps what is known of them. */
function moveOf(taken: readonly Progressed[]) {
  const of = <T>(value: (progress: Progress) => T | undefined) => taken.map(({ progress }) => value(progress) ?? null);
  return sql<MovedRow>`
    update calls c set
      status = case
        when x.final_status = 'failed' and not ${hasTold} and c.status in ${from(callTransitions, 'failed')} then 'failed'
        when x.final_status = 'cancelled' and x.answered_at is null
          and c.status in ${from(callTransitions, 'cancelled')} then 'cancelled'
        when x.final_status is not null then 'completed'
        when x.answered_at is not null and c.status in ${from(callTransitions, 'in_progress')} then 'in_progress'
        when c.status in ${from(callTransitions, 'ringing')} then 'ringing'
        else c.status end,
      ringing_at = coalesce(c.ringing_at, x.ringing_at),
      answered_at = coalesce(c.answered_at, x.answered_at),
      ended_at = x.ended_at, outcome = case when ${hasTold} or ${isByAgentNoMachine} then 'answered' else x.outcome end, ended_by = x.ended_by, sip_status = x.sip_status,
      sip_reason = x.sip_reason, release_cause = x.release_cause, codec = x.codec, packets_received = x.packets_received,
      packets_lost = x.packets_lost, encrypted_with = x.encrypted_with, packets_undeciphered = x.packets_undeciphered,
      agent_end = x.agent_end, usage = coalesce(c.usage, x.usage),
      answered_by = coalesce(x.answered_by, c.answered_by),
      answered_by_evidence = coalesce(x.evidence, c.answered_by_evidence),
      message_left = coalesce(x.message_left, c.message_left)
    from unnest(
      ${taken.map(({ call }) => call.workspaceId)}::uuid[],
      ${taken.map(({ call }) => call.roomId)}::uuid[],
      ${of((p) => p.ended && finalStatus(p.ended.outcome))}::text[],
      ${of((p) => p.ringingAt)}::timestamptz[],
      ${of((p) => p.answeredAt)}::timestamptz[],
      ${of((p) => p.ended?.at)}::timestamptz[],
      ${of((p) => p.ended?.outcome)}::text[],
      ${of((p) => p.ended?.endedBy)}::text[],
      ${of((p) => p.ended?.sipStatus)}::smallint[],
      ${of((p) => plainText(p.ended?.sipReason, 255))}::text[],
      ${of((p) => p.ended?.q850Cause)}::smallint[],
      ${of((p) => plainText(p.ended?.codec, 32))}::text[],
      ${of((p) => p.ended?.packetsReceived)}::integer[],
      ${of((p) => p.ended?.packetsLost)}::integer[],
      ${of((p) => p.ended?.encryptedWith)}::text[],
      ${of((p) => p.ended?.packetsUndeciphered)}::integer[],
      ${of((p) => agentEndOf(p.ended))}::jsonb[],
      ${of((p) => usageOf(p.ended))}::jsonb[],
      ${of((p) => answeredOf(p)?.answeredBy)}::text[],
      ${of((p) => evidenceOf(answeredOf(p)))}::jsonb[],
      ${of((p) => messageOf(answeredOf(p)))}::jsonb[])
      as x (workspace_id, id, final_status, ringing_at, answered_at, ended_at, outcome, ended_by, sip_status,
        sip_reason, release_cause, codec, packets_received, packets_lost, encrypted_with,
        packets_undeciphered, agent_end, usage, answered_by, evidence, message_left)
    where c.workspace_id = x.workspace_id and c.id = x.id and c.status in ${from(callTransitions, 'completed')}
    returning ${ownedColumns}, c.outcome, c.ended_at, c.phone_number_id, c.pooled, c.trunk_id, c.direction, c.sip_status,
      c.sip_reason, c.release_cause, c.packets_received, c.answered_at, c.agent_id,
      c.reason, c.result ->> 'answeredBy' as answered_by, c.result is not null as has_told,
      c.message_left -> 'complete' = 'true' as has_left_message`;
}

/** SQL for whether the agent of a call `c` that was answered has told a result of it: it was there, though it was never heard. */
const hasTold = sql`(x.outcome = 'agent_error' and x.agent_end is not null and c.result is not null
  and coalesce(c.answered_at, x.answered_at) is not null)`;

/** SQL for whether the agent says that a call `c` was answered by no machine, whatever was heard of it. */
const isByAgentNoMachine = sql`(x.answered_by is not null and x.outcome = 'voicemail'
  and coalesce(c.result ->> 'answeredBy', 'machine') not in ('machine', 'unknown'))`;

type MovedRow = OwnedRow &
  Pick<Row<'calls'>, 'agent_id' | 'reason' | 'answered_at' | 'ended_at' | 'pooled' | 'trunk_id' | 'direction'> &
  Pick<Row<'calls'>, 'sip_status' | 'sip_reason' | 'release_cause' | 'packets_received'> & {
    outcome: CallOutcome | null;
    phone_number_id: string;
    answered_by: string | null;
    has_told: boolean;
    has_left_message: boolean | null;
  };

/** What others said, as it may be shown and kept: carriers put anything there. */
const plainText = (text: string | undefined, most: number): string | undefined =>
  text?.replace(/[\p{Cc}\p{Cs}]/gu, ' ').slice(0, most);

const agentEndOf = (ended: Progress['ended']): string | undefined => {
  const { text, usage: _usage, ...end } = ended?.agentEnd ?? {};
  return ended?.agentEnd && JSON.stringify({ ...end, text: plainText(text, 255) });
};

const answeredOf = ({ ended, answered }: Progress): Answered | undefined => ended?.answered ?? answered;

const evidenceOf = (answered: Answered | undefined): string | undefined =>
  answered && JSON.stringify(answered.evidence);

const messageOf = (answered: Answered | undefined): string | undefined =>
  answered?.message && JSON.stringify(answered.message);

const usageOf = (ended: Progress['ended']): string | undefined =>
  ended?.agentEnd?.usage && JSON.stringify(ended.agentEnd.usage);

/** A call that we end so soon may be over before the first packet comes: that there was none says nothing of its trunk. */
const SOON_MS = 1000;

/** The end of a row's call, where it was placed over a trunk. */
function overTrunk(row: MovedRow, end: Progress['ended']): EndOverTrunk[] {
  const { outcome, ended_at: endedAt, trunk_id: trunkId, phone_number_id: phoneNumberId } = row;
  if (!outcome || !endedAt || !trunkId || row.direction === 'inbound') return [];
  const said = { sipStatus: row.sip_status, sipReason: row.sip_reason, q850Cause: row.release_cause };
  const isOurs = end?.endedBy === 'service' || end?.endedBy === 'error';
  const isSoon = isOurs && row.answered_at !== null && endedAt.getTime() - row.answered_at.getTime() < SOON_MS;
  const packetsReceived = isSoon && row.packets_received === 0 ? undefined : row.packets_received;
  const answer = given({
    ...said,
    packetsReceived,
    retryAfterSeconds: end?.retryAfterSeconds,
    wasSilent: end?.wasSilent,
  });
  return [{ workspaceId: row.workspace_id, roomId: row.id, trunkId, phoneNumberId, outcome, endedAt, ...answer }];
}

/** What the end of a row's call shows of its agent, if it had one. */
function ofAgent(row: MovedRow, end: AgentEnd | undefined): EndOfAgent[] {
  const { workspace_id: workspaceId, agent_id: agentId, ended_at: endedAt, answered_at: answeredAt } = row;
  if (!end || !endedAt || agentId === null) return [];
  return [{ workspaceId, agentId, endedAt, answeredAt, end, hasTold: row.has_told }];
}

/** The call of a row, where it has ended. */
const ended = (row: MovedRow): (EndedCall & { pooled: boolean; phoneNumberId: string })[] => {
  const { outcome, ended_at: endedAt, phone_number_id: phoneNumberId, pooled, answered_by: answeredBy } = row;
  if (!outcome || !endedAt) return [];
  const answer = {
    wasAnswered: row.answered_at !== null,
    ...(row.answered_at && { talkMs: Math.max(0, endedAt.getTime() - row.answered_at.getTime()) }),
    ...(answeredBy !== null && { answeredBy }),
    ...(row.has_left_message && { hasLeftMessage: true }),
  };
  // It was cancelled since its agent fails (`withdraw-calls-of-agents.ts`), and its contact had no part in that.
  const aside = outcome === 'cancelled' && row.reason === 'agent_failing' && { setAside: 'agent_failing' as const };
  return [{ ...toOwned(row), outcome, endedAt, phoneNumberId, pooled, ...answer, ...aside }];
};
