import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { pageAnswer, pageOf, several } from '../../foundation/database/page.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import { readMessages } from '../../lines/telephony/kept-messages.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { fromE164 } from './call.ts';
import { shapeDtmf } from './dtmf.ts';
import { type ListenDeps, listenToCall } from './listening/listen-to-call.ts';
import { metadataPairs } from './metadata-pairs.ts';
import { type CallResultDeps, recordCallResult } from './record-call-result.ts';
import { deleteRecording } from './recordings/delete-recording.ts';
import { readPeaks } from './recordings/read-peaks.ts';
import { withRecordingUrl } from './recordings/recording-url.ts';
import { readDtmf, requestDtmf } from './request-dtmf.ts';
import { shapeCall } from './shape-call.ts';
import type { CallStore } from './store.ts';
import type { Switchboard } from './switchboard.ts';
import { readWithTranscript } from './transcripts.ts';

const date = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
const uuid = (id: string | undefined) => (id === undefined ? undefined : fromId(id));

/** What the operations of calls work with. */
export interface CallDeps extends CallResultDeps {
  calls: CallStore;
  secrets: Secrets;
  endCall: Switchboard['endCall'];
  nudgeDigits: Switchboard['digits']['nudge'];
  objects: Pick<ObjectStore, 'downloadUrl' | 'get'>;
  listening: ListenDeps;
}

/** The operations of calls. */
export function callOperations(deps: CallDeps) {
  const { database, calls, objects } = deps;
  return {
    listCalls: async ({ query }, { workspaceId }) => {
      const { status, outcome, phoneNumber, direction, agentId, externalId, tag } = query;
      const page = pageOf(query);
      const wanted = {
        ...page,
        statuses: several(status),
        outcomes: several(outcome),
        direction,
        agentId,
        externalId,
        tags: several(tag),
        metadata: metadataPairs(query.metadata),
        campaignId: uuid(query.campaignId),
        batchId: uuid(query.batchId),
        contactId: uuid(query.contactId),
        workflowRunId: uuid(query.workflowRunId),
        phoneNumber: phoneNumber === undefined ? undefined : fromE164(phoneNumber),
        queuedAfter: date(query.queuedAfter),
        queuedBefore: date(query.queuedBefore),
      };
      const found = await database.inSnapshot(workspaceId, (tx) => calls.page(tx, wanted));
      return { status: 200, body: pageAnswer(page, found, shapeCall) };
    },
    getCall: async ({ path }, { workspaceId }) => {
      const read = (tx: WorkspaceTx) => readWithTranscript(tx, calls, fromId(path.roomId));
      const call = await existing(database.inSnapshot(workspaceId, read));
      return { status: 200, body: await withRecordingUrl(objects, call) };
    },
    getCallSip: async ({ path: { roomId } }, { workspaceId }) => {
      const messages = await existing(database.inWorkspace(workspaceId, (tx) => readMessages(tx, fromId(roomId))));
      const shaped = messages.map(({ at, ...message }) => ({ at: new Date(at).toISOString(), ...message }));
      return { status: 200, body: { roomId, messages: shaped } };
    },
    endCall: async ({ path }, context) => {
      const auditEntry = auditOf(context)('call.ended', 'call', path.roomId);
      return { status: 200, body: await deps.endCall(context.workspaceId, fromId(path.roomId), auditEntry) };
    },
    sendCallDtmf: async ({ path, body, headers }, context) => {
      const { made, replayed } = await requestDtmf(deps, {
        workspaceId: context.workspaceId,
        roomId: fromId(path.roomId),
        digits: body.digits,
        idempotencyKey: headers['Idempotency-Key'],
        auditEntry: auditOf(context)('call.dtmf_sent', 'call', path.roomId),
      });
      deps.nudgeDigits();
      const answer = { status: 202 as const, body: shapeDtmf(made) };
      return replayed ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer;
    },
    getCallDtmf: async ({ path }, { workspaceId }) => {
      const read = (tx: WorkspaceTx) => readDtmf(tx, fromId(path.roomId), fromId(path.dtmfId));
      return { status: 200, body: shapeDtmf(await existing(database.inSnapshot(workspaceId, read))) };
    },
    listenToCall: async ({ path }, context) => {
      const body = await listenToCall(deps.listening, context, path.roomId, auditOf(context));
      return { status: 201, body };
    },
    completeCall: async ({ path }, context) => {
      const roomId = path.callSid.replace('.json', '');
      if (fromId(path.accountSid) !== context.workspaceId) throw notFound();
      const auditEntry = auditOf(context)('call.ended', 'call', roomId);
      const { endedAt } = await deps.endCall(context.workspaceId, fromId(roomId), auditEntry).catch(toEndedAlready);
      const status = endedAt === undefined ? 'in-progress' : 'completed';
      return { status: 200, body: { account_sid: path.accountSid, sid: roomId, status } };
    },
    recordCallResult: async ({ path, body }, context) => {
      const auditEntry = auditOf(context)('call.result_recorded', 'call', path.roomId);
      const call = await recordCallResult(deps, context.workspaceId, fromId(path.roomId), body, auditEntry);
      return { status: 200, body: call };
    },
    getCallRecordingPeaks: async ({ path, query: { points = 1000 } }, { workspaceId, signal }) => ({
      status: 200,
      body: await readPeaks(deps, workspaceId, { roomId: fromId(path.roomId), points, signal }),
    }),
    deleteCallRecording: async ({ path }, context) => {
      const auditEntry = auditOf(context)('call.recording_deleted', 'call', path.roomId);
      await deleteRecording(deps, context.workspaceId, fromId(path.roomId), auditEntry);
      return { status: 200, body: { id: path.roomId, deleted: true } };
    },
  } satisfies Partial<Handlers>;
}

/** To clients of Twilio a call that has ended is one that was ended. */
function toEndedAlready(error: unknown): { endedAt: string } {
  if (error instanceof ServiceError && error.code === 'call_not_active') return { endedAt: '' };
  throw error;
}
