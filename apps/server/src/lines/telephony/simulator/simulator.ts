import { NotWitnessed } from '../../../platform/installation/raise-number.ts';
import type { DigitsSent } from '../../media/digits.ts';
import type {
  CallEventListener,
  CallGateway,
  CallReference,
  CallRequest,
  CallState,
  InboundAnswer,
  InboundCall,
  PlaceResult,
} from '../call-gateway.ts';
import type { NumberMarket } from '../number-market.ts';
import type { TrunkProber } from '../trunk-prober.ts';
import { createArrivingCalls } from './arriving-calls.ts';
import { createDelivery } from './delivery.ts';
import { callEnder } from './end-call.ts';
import type { Faults } from './faults.ts';
import { createFollowedCalls } from './followed-calls.ts';
import { gatherStatements } from './gathered-store.ts';
import { buyFromInventory, findInInventory, searchInventory } from './inventory.ts';
import { callsBack, defaultProfile, INBOUND, type PlannedCall, type Profile, planCall, sipStatusOf } from './plan.ts';
import { eventsOf, type StoredCall, stateOf } from './progress.ts';
import type { SimulatorStore } from './store.ts';
import { realTime, type SimulatorTime } from './time.ts';
import { probeSimulatedTrunk } from './trunks.ts';

export interface SimulatorOptions {
  /** Together with number and attempt it decides every call. */
  seed: string;
  /** Divides ring and talk time: 1 is real time, `Infinity` ends every call at once. */
  speed: number;
  store: SimulatorStore;
  time?: SimulatorTime;
  profile?: Profile;
}

export interface Simulator extends CallGateway, NumberMarket, TrunkProber {
  /** To be set by tests; empty at first. */
  readonly faults: Faults;
  /** How many calls this process follows. */
  liveCalls(): number;
  /** Has a call arrive in this process, at one of our numbers. */
  ring(call: Pick<InboundCall, 'to' | 'from' | 'workspaceId'>): void;
}

const storedCall = (
  { roomId, to, attempt, ringTimeoutSeconds, maxCallSeconds }: PlannedCall & { roomId: string },
  placedAt: Date,
): StoredCall => ({ roomId, to, attempt, ringTimeoutSeconds, maxCallSeconds, placedAt, placements: 1 });

/** A telephony provider whose every call is decided in advance. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { seed, speed, store, time = realTime, profile = defaultProfile } = options;
  const faults: Faults = {};
  const delivery = createDelivery(time, faults);
  let running = false;

  const planOf = (call: PlannedCall) => planCall(seed, call, profile);
  const progressOf = (call: StoredCall, now: Date) => stateOf(call, planOf(call), speed, now);

  const { insert, find, end, idle } = gatherStatements(store, time);
  const eventsToCome = (call: StoredCall) => eventsOf(call.roomId, call.placedAt, planOf(call), speed);
  const followed = createFollowedCalls(time, eventsToCome, delivery.deliver);
  const arriving = createArrivingCalls(time, speed);

  const placeCall = async (request: CallRequest): Promise<PlaceResult> => {
    if (!running) return { status: 'rejected', outcome: 'trunk_error', detail: 'the simulator is stopped' };
    if (faults.loseRequest?.(request)) return { status: 'unknown', detail: 'simulated: the request was lost' };
    const { outcome, answer = { sipStatus: sipStatusOf.trunk_error } } = planOf(request);
    if (outcome === 'trunk_error') {
      return { status: 'rejected', outcome, detail: 'simulated trunk error', ...answer };
    }
    const { workspaceId, owner } = request;
    const call = { ...storedCall(request, time.now()), placing: { workspaceId, owner } };
    try {
      if (await insert(call)) {
        followed.follow(call);
        if (callsBack(request.to)) arriving.ringBack(request);
      }
    } catch (error) {
      if (error instanceof NotWitnessed) return { status: 'withheld', detail: error.message };
      return { status: 'unknown', detail: `the simulator's store failed: ${String(error)}` };
    }
    if (faults.loseAnswer?.(request)) return { status: 'unknown', detail: 'simulated: the answer was lost' };
    return { status: 'accepted' };
  };

  const answerInbound = async ({ from = '' }: InboundCall, { roomId, maxCallSeconds }: InboundAnswer) => {
    const planned = { roomId, to: from, attempt: INBOUND, ringTimeoutSeconds: 0, maxCallSeconds };
    const call = storedCall(planned, time.now());
    if (await insert(call)) followed.follow(call);
  };

  /** Whoever answers there has ears. */
  const sendDigits = async (roomId: string): Promise<DigitsSent> => {
    const call = followed.get(roomId);
    const state = call && progressOf(call, time.now());
    const isUp = state?.state === 'live' && state.phase === 'answered';
    return isUp ? { isSent: true } : { isSent: false, reason: 'call_ended' };
  };

  const lookup = async ({ roomId }: CallReference): Promise<CallState> => {
    try {
      // From the store, also if the call is followed: another process may have ended it.
      const call = await find(roomId);
      if (!call) return { state: 'absent' };
      // One instant for both: what happens after the state that is answered comes as an event.
      const now = time.now();
      const state = progressOf(call, now);
      if (state.state === 'live') followed.follow(call, now);
      else if (call.ended) followed.unfollow(roomId);
      return state;
    } catch (error) {
      return { state: 'undetermined', detail: `the simulator's store failed: ${String(error)}` };
    }
  };

  return {
    capabilities: { simulated: true },
    faults,
    liveCalls: followed.count,
    knowsKeys: true,
    searchNumbers: (search) => searchInventory(store, search),
    buyNumber: (purchase) => buyFromInventory(store, purchase, time.now()),
    lookupNumberPurchase: (idempotencyKey) => findInInventory(store, idempotencyKey),
    releaseNumber: ({ phoneNumber }) => store.release(phoneNumber),
    probeTrunk: async (trunk) => probeSimulatedTrunk(trunk),
    placeCall,
    endCall: callEnder({ time, followed, find, end, planOf, progressOf, deliver: delivery.deliver }),
    sendDigits,
    lookup,
    onEvents: (listener: CallEventListener) => delivery.listen(listener),
    onInbound: arriving.listen,
    answerInbound,
    rejectInbound: async () => {},
    ring: arriving.ring,
    async start() {
      running = true;
      delivery.open();
      followed.open();
      arriving.open();
    },
    async stop() {
      running = false;
      arriving.close();
      followed.close();
      delivery.close();
      await idle();
    },
  };
}
