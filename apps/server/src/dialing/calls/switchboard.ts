import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import type { Lease } from '../../foundation/database/lease.ts';
import { measureSlots } from '../../foundation/observe/slot-metrics.ts';
import { tracer } from '../../foundation/observe/tracing.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { allWhileAlone, Shares } from '../../foundation/values/limiter.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { CallGateway } from '../../lines/telephony/call-gateway.ts';
import type { TrunksToCall } from '../../lines/trunks/trunks-to-call.ts';
import type { RestoreGuard } from '../../platform/installation/restore-guard.ts';
import type { Repeating } from '../../platform/jobs/every.ts';
import type { AuditEntry } from '../../platform/journal/record.ts';
import type { AgentDirectory } from '../../voices/agents/directory.ts';
import type { HeldCall } from './call.ts';
import { callEventRecorder } from './call-events.ts';
import { allOwners, type CallOwner } from './call-owner.ts';
import { type CallEnded, endCall } from './end-call.ts';
import { hangUpRequested } from './hang-up-requested.ts';
import { registerCallMetrics } from './metrics.ts';
import { type CallToPlace, createCallPlacer, rejection } from './place-calls.ts';
import { type AskWhoTakes, receiveCalls } from './receive-calls.ts';
import { createCallReconciler } from './reconcile-calls.ts';
import { createCallRecorder } from './record-call-events.ts';
import { requestEndOfCalls } from './request-end.ts';
import { callReturner, returnQueuedCalls } from './return-calls.ts';
import { createDigitSender } from './send-requested-digits.ts';
import type { CallStore } from './store.ts';
import { traceEnds } from './trace-calls.ts';
import { agentsWithdrawer } from './withdraw-calls-of-agents.ts';

export interface SwitchboardOptions {
  database: Database;
  lease: Lease;
  leaseSeconds: number;
  clock: Clock;
  log: Logger;
  /** By the provider's name of a phone number. */
  gateways: ReadonlyMap<string, CallGateway>;
  /** The most calls that this process holds at a time. */
  maxCalls: number;
  /** Where it puts its metrics. */
  registry: Registry;
  calls: CallStore;
  owners: readonly CallOwner[];
  guard: Pick<RestoreGuard, 'mayPlace' | 'mayJudge' | 'doubt'>;
  agents: AgentDirectory;
  trunksToCall: TrunksToCall;
  /** Asks a number's webhook who takes a call that has arrived. */
  ask: AskWhoTakes;
  /** The most calls of a workspace at once that have arrived; any number by default. */
  maxInboundCalls?: number | undefined;
}

/** Everything in this process that places, takes and follows calls: the owner of the calls that it holds. */
export interface Switchboard {
  /** Begins to place, take and follow calls. */
  start(): void;
  /** Whether calls may be placed now: not in a database that was restored, nor while no witness can be told of them. */
  mayPlace(): Promise<boolean>;
  /** Whether calls may be claimed now, also where they are then found not to be placed yet. */
  mayClaim(): Promise<boolean>;
  /** Places calls that were committed as `queued` by this server. */
  place(calls: CallToPlace[]): void;
  /** How many more calls of a workspace this process can hold, and place in time; of many, some. */
  free(workspaceId: string): number;
  /** Whether no telephone rings for numbers of a provider; undefined for one that isn't configured here. */
  isSimulated(provider: string): boolean | undefined;
  /** Ends a call for a client, as `end-call.ts` says. */
  endCall(workspaceId: string, roomId: string, auditEntry: AuditEntry): Promise<CallEnded>;
  /** Asks for the end of calls, as `request-end.ts` says; the caller holds the rows of their owners. */
  requestEnd(tx: WorkspaceTx, roomIds: string[], now: Date): Promise<number>;
  /** Sends digits in calls that this process holds. */
  digits: Pick<ReturnType<typeof createDigitSender>, 'send' | 'nudge'>;
  /** Hangs up at once what it was asked to end. */
  nudgeHangUps(): void;
  /** Places nothing any more, and gives back what is not placed yet; calls that are up go on. */
  stopPlacing(): Promise<void>;
  /** Gives back what is not placed, and writes what is known. Calls that are up stay up. */
  stop(): Promise<void>;
}

/** More than any claim takes. */
const MOST_SAID_FREE = 100;

const gatewayAmong =
  (gateways: ReadonlyMap<string, CallGateway>) =>
  (provider: string): CallGateway => {
    const gateway = gateways.get(provider);
    if (!gateway) throw new ServiceError('unavailable', `The provider ${provider} is not configured on this server.`);
    return gateway;
  };

/** Puts the switchboard together: only what is here changes which calls this process holds. */
export function createSwitchboard(options: SwitchboardOptions): Switchboard {
  const { database, lease, leaseSeconds, clock, log, gateways } = options;
  const { mayJudge, doubt } = options.guard;
  const recordEvents = callEventRecorder(options.calls.named);
  const owners = allOwners(options.owners, recordEvents);

  const held = new Map<string, HeldCall>();
  const places = new Shares(options.maxCalls, allWhileAlone);
  measureSlots(options.registry, 'calls', places);
  const callOf = (roomId: string) => held.get(roomId);
  const hold = (calls: readonly HeldCall[]) => {
    for (const call of calls) {
      if (!held.has(call.roomId)) places.add(call.workspaceId);
      held.set(call.roomId, call);
    }
  };
  const release = (calls: readonly HeldCall[]) => {
    for (const { roomId, workspaceId } of calls) if (held.delete(roomId)) places.giveBack(workspaceId);
  };
  const watch = (calls: readonly HeldCall[]) => {
    hold(calls);
    reconciler.watch(calls);
  };
  const metrics = registerCallMetrics(options.registry, () => held.size);

  const parts = { database, lease, leaseSeconds, clock, log, mayJudge, doubt };
  const giveBack = callReturner({ ...parts, owners, release, watch, onReturned: metrics.returned });
  const common = { ...parts, owners, recordEvents, gatewayFor: gatewayAmong(gateways), callOf, giveBack };
  const recorder = createCallRecorder({
    ...common,
    onWritten: (ending, ended) => {
      release(ending);
      for (const { outcome } of ended) metrics.ended(outcome);
      if (tracer) traceEnds(tracer, ending, ended);
      owners.nudge();
    },
    onAgentsFailing: agentsWithdrawer({ ...common, nudgeHangUps: () => hangingUp?.nudge() }),
  });
  const reconciler = createCallReconciler({
    ...common,
    allHeld: () => [...held.values()],
    gateways,
    release,
    watch,
    record: recorder.record,
    giveBackQueued: (calls) => giveBack(calls, returnQueuedCalls),
  });
  const placer = createCallPlacer({
    ...common,
    guard: options.guard,
    trunksToCall: options.trunksToCall,
    onRejected: (call, result) => recorder.record([rejection(call, result, clock.now())]),
    onUnknown: (call) => watch([call]),
  });

  const digits = createDigitSender(common);
  let hangingUp: Repeating | undefined;
  let receiving: { close(): Promise<void> } | undefined;
  let unsubscribe: (() => void)[] = [];

  return {
    start: () => {
      unsubscribe = [...new Set(gateways.values())].map((gateway) => gateway.onEvents(recorder.record));
      hangingUp = hangUpRequested(common);
      digits.start();
      reconciler.start();
      const { agents, ask, maxInboundCalls } = options;
      receiving = receiveCalls({ ...common, gateways, agents, ask, maxInboundCalls, hold, release, watch });
    },
    mayPlace: options.guard.mayPlace,
    mayClaim: mayJudge,
    place: (calls) => {
      hold(calls);
      placer.add(calls);
      metrics.claimed(calls.length);
    },
    free: (workspaceId) => Math.min(places.room(workspaceId, MOST_SAID_FREE), placer.room()),
    isSimulated: (provider) => gateways.get(provider)?.capabilities.simulated,
    endCall: (workspaceId, roomId, auditEntry) =>
      endCall({ ...common, hold, release, watch }, workspaceId, roomId, auditEntry),
    requestEnd: (tx, roomIds, now) => requestEndOfCalls(tx, owners, roomIds, now),
    digits,
    nudgeHangUps: () => hangingUp?.nudge(),
    stopPlacing: placer.stop,
    stop: async () => {
      await Promise.all([receiving?.close(), hangingUp?.close(), digits.close(), placer.stop()]);
      await reconciler.stop();
      await recorder.idle();
      for (const remove of unsubscribe) remove();
    },
  };
}
