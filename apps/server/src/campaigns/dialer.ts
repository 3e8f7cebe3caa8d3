import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { HeldCall } from '../calls/call.ts';
import { tellingOfEnds } from '../calls/call-events.ts';
import { bothOwners, type CallOwner, type CampaignKey, type UnlockedCallOwner } from '../calls/call-owner.ts';
import { hangUpRequested } from '../calls/hang-up-requested.ts';
import { type CallPlacer, type CallToPlace, createCallPlacer } from '../calls/place-calls.ts';
import { type CallReconciler, createCallReconciler } from '../calls/reconcile-calls.ts';
import { createCallRecorder } from '../calls/record-call-events.ts';
import { returnCalls, returnQueuedCalls } from '../calls/return-calls.ts';
import type { Clock } from '../clock.ts';
import type { Database, Tx } from '../database/database.ts';
import type { Lease } from '../database/lease.ts';
import { every, type Repeating } from '../jobs/every.ts';
import { ServiceError } from '../service-error.ts';
import type { TelephonyGateway } from '../telephony/gateway.ts';
import { addContacts } from './add-contacts.ts';
import { type Claim, type ClaimTerms, claimContacts, putOff } from './claim/claim-contacts.ts';
import { LEAD_MS, leadAfter } from './claim/pace.ts';
import {
  campaignsInFlight,
  campaignsToFill,
  campaignsToStart,
  claimableCampaigns,
  endDueCampaigns,
  recountInFlight,
} from './due-campaigns.ts';
import { campaignCallOwner } from './end-contacts.ts';
import { registerDialingMetrics } from './metrics.ts';

/** How long each loop rests when it found nothing to do. A change made in this process nudges it. */
const CLAIM_REST_MS = 100;
const FILL_REST_MS = 250;
const DUE_REST_MS = 1000;
const RECOUNT_REST_MS = 30_000;
/** When a campaign that could not be claimed from is tried again. */
const FAILED_CLAIM_MS = 10_000;

/** Everything in this process that places and follows calls. */
export interface Dialer {
  /** Calls that this process holds, by room. */
  readonly held: Map<string, HeldCall>;
  /** What calls tell their campaigns and runs. */
  readonly owner: CallOwner;
  /** The gateway that serves a phone number's provider. Throws where none is configured. */
  gatewayFor(provider: string): TelephonyGateway;
  /** Begins to claim, place and follow calls. */
  start(): void;
  /** Has calls looked up until the provider can say what became of them. */
  watch(calls: HeldCall[]): void;
  /** Places calls that were committed as `queued` by this server. */
  place(calls: CallToPlace[]): void;
  /** How many more calls this process can hold. */
  free(): number;
  /** Whether no telephone rings for numbers of a provider; undefined for one that isn't configured here. */
  isSimulated(provider: string): boolean | undefined;
  /** Looks for work at once, after a change that may have made some. */
  nudge(): void;
  /** Hangs up at once what was asked to end. */
  nudgeHangUps(): void;
  /** Claims nothing more, gives back what is not placed, and writes what is known. Calls that are up stay up. */
  stop(): Promise<void>;
}

export interface DialerOptions {
  database: Database;
  lease: Lease;
  leaseSeconds: number;
  clock: Clock;
  log: Logger;
  /** Each once, by the provider's name of a phone number. */
  gateways: ReadonlyMap<string, TelephonyGateway>;
  /** The most calls that this process holds at a time. */
  maxCalls: number;
  /** Where it puts its metrics. */
  registry: Registry;
  /** Starts a scheduled campaign whose time has come, or fails it. Throws `unavailable` where that can't be told now. */
  startDue: (database: Database, campaign: CampaignKey, now: Date) => Promise<void>;
  /** The other owners of calls beside campaigns. */
  runs: UnlockedCallOwner;
  /** Tells of a campaign that the engine has completed, in the transaction that did it. */
  onFinished: (tx: Tx, campaign: CampaignKey) => Promise<void>;
}

/** Puts dialing together: claims, placement, ends, reconciliation, and what is due by time. */
export function createDialer(options: DialerOptions): Dialer {
  const { database, lease, clock, log, gateways, onFinished } = options;
  const held = new Map<string, HeldCall>();
  const owner = tellingOfEnds(bothOwners(campaignCallOwner(onFinished), options.runs));
  const gatewayFor = (provider: string): TelephonyGateway => {
    const gateway = gateways.get(provider);
    if (!gateway) throw new ServiceError('unavailable', `The provider ${provider} is not configured on this server.`);
    return gateway;
  };

  const isSimulated = (provider: string) => gateways.get(provider)?.capabilities.simulated;
  const free = () => options.maxCalls - held.size;
  const place = (calls: CallToPlace[]) => {
    for (const call of calls) held.set(call.roomId, call);
    placer.add(calls);
    metrics.claimed(calls.length);
  };
  let claiming: Repeating | undefined;
  let filling: Repeating | undefined;
  let starting: Repeating | undefined;
  let recounting: Repeating | undefined;
  let hangingUp: Repeating | undefined;

  const metrics = registerDialingMetrics(options.registry, () => held.size);

  const recorder = createCallRecorder({
    database,
    owner,
    held,
    clock,
    log,
    onEnded: (calls) => {
      for (const { outcome } of calls) metrics.ended(outcome);
      claiming?.nudge();
    },
  });

  /** What can't be given back now is looked up, and given back then. */
  const giveBack = async (calls: HeldCall[], giveBackCalls = returnCalls) => {
    for (const call of calls) held.delete(call.roomId);
    try {
      await giveBackCalls(database, calls, { owner, serverId: lease.serverId(), now: clock.now() });
      metrics.returned(calls.length);
    } catch (error) {
      log.error({ err: error, calls: calls.length }, 'calls could not be given back; it is tried again');
      reconciler.watch(calls);
    }
  };

  const reconciler: CallReconciler = createCallReconciler({
    database,
    lease,
    leaseSeconds: options.leaseSeconds,
    held,
    clock,
    log,
    gatewayFor,
    record: recorder.record,
    giveBack,
    giveBackQueued: (calls) => giveBack(calls, returnQueuedCalls),
  });

  const placer: CallPlacer = createCallPlacer({
    database,
    lease,
    clock,
    log,
    gatewayFor,
    giveBack,
    onRejected: ({ roomId }, { outcome, sipStatus }) =>
      recorder.record([
        {
          roomId,
          at: clock.now(),
          type: 'ended',
          outcome,
          endedBy: 'error',
          ...(sipStatus !== undefined && { sipStatus }),
        },
      ]),
    onUnknown: (call) => reconciler.watch([call]),
  });

  const unsubscribe = [...new Set(gateways.values())].map((gateway) => gateway.onEvents(recorder.record));

  /** Keeps a fault of one campaign from the others; nothing goes on without the database. */
  const attempt = async (campaign: CampaignKey, act: () => Promise<void>, afterwards?: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable') throw error;
      log.error({ err: error, ...campaign }, 'a campaign could not be served; it is tried again');
      await afterwards?.();
    }
  };

  let leadMs = LEAD_MS;
  const claimFrom = async (campaign: CampaignKey, terms: ClaimTerms): Promise<boolean> => {
    let claim: Claim = { calls: [], more: false };
    const began = performance.now();
    await attempt(
      campaign,
      async () => {
        claim = await claimContacts(database, campaign, terms, onFinished);
      },
      () => database.inEngine((tx) => putOff(tx, campaign, new Date(terms.now.getTime() + FAILED_CLAIM_MS))),
    );
    place(claim.calls);
    leadMs = leadAfter(leadMs, performance.now() - began);
    return claim.more;
  };

  /** Claims one batch of every campaign that is due, then another of those that have more, until it is time to look again. */
  const claimTurn = async (): Promise<boolean> => {
    const lookAgainAt = performance.now() + CLAIM_REST_MS;
    let campaigns = await database.inHotLoop((tx) => claimableCampaigns(tx, clock.now()));
    while (campaigns.length > 0) {
      const withMore: CampaignKey[] = [];
      for (const campaign of campaigns) {
        if (free() <= 0 || !lease.isHeld()) return false;
        const terms = { serverId: lease.serverId(), free: free(), now: clock.now(), isSimulated, leadMs };
        if (await claimFrom(campaign, terms)) withMore.push(campaign);
      }
      if (performance.now() > lookAgainAt) return withMore.length > 0;
      campaigns = withMore;
    }
    return false;
  };

  const fillTurn = async (): Promise<boolean> => {
    let more = false;
    for (const campaign of await database.inEngine(campaignsToFill)) {
      await attempt(campaign, async () => {
        more = (await addContacts(database, campaign, clock.now())) || more;
      });
      claiming?.nudge();
    }
    return more;
  };

  /** Ends come first: they ask nobody, and starts may have to wait for the agent directory. */
  const dueTurn = async (): Promise<void> => {
    const now = clock.now();
    await database.inEngine(async (tx) => {
      for (const campaign of await endDueCampaigns(tx, now)) await onFinished(tx, campaign);
    });
    for (const campaign of await database.inEngine((tx) => campaignsToStart(tx, now))) {
      await attempt(campaign, () => options.startDue(database, campaign, now));
      filling?.nudge();
    }
  };

  const recountTurn = async (): Promise<void> => {
    for (const campaign of await database.inEngine(campaignsInFlight)) {
      const difference = await database.inEngine((tx) => recountInFlight(tx, campaign));
      if (difference !== 0) log.error({ ...campaign, difference }, 'a count of live calls was wrong, and is mended');
    }
  };

  return {
    held,
    owner,
    gatewayFor,
    isSimulated,
    free,
    place,
    watch: reconciler.watch,
    start: () => {
      claiming = every(CLAIM_REST_MS, claimTurn, { name: 'claiming', log });
      filling = every(FILL_REST_MS, fillTurn, { name: 'adding contacts', log });
      starting = every(DUE_REST_MS, dueTurn, { name: 'starting and ending campaigns', log });
      recounting = every(RECOUNT_REST_MS, recountTurn, { name: 'recounting calls', log });
      hangingUp = hangUpRequested({ database, lease, log, gatewayFor });
      reconciler.start();
    },
    nudge: () => {
      for (const loop of [claiming, filling, starting]) loop?.nudge();
    },
    nudgeHangUps: () => hangingUp?.nudge(),
    stop: async () => {
      await Promise.all([claiming, filling, starting, recounting, hangingUp].map((loop) => loop?.close()));
      await placer.stop();
      await reconciler.stop();
      await recorder.idle();
      for (const remove of unsubscribe) remove();
    },
  };
}
