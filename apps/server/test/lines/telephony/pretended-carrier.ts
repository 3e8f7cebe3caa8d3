import type {
  CallEvent,
  CallEventListener,
  CallGateway,
  CallReference,
  CallRequest,
  CallState,
} from '../../../src/lines/telephony/call-gateway.ts';
import type { CallOutcome, EndedBy } from '../../../src/lines/telephony/call-outcome.ts';
import { NumberError, type NumberMarket, type ProviderNumber } from '../../../src/lines/telephony/number-market.ts';

/** What a pretended callee does: `ring` and `talk` in milliseconds; without `talk` the call ends in its outcome as it rings. */
export interface PretendedCallee {
  outcome: CallOutcome;
  ring: number;
  talk?: number;
}

interface PretendedCall {
  request: CallRequest;
  ringingAt?: Date;
  answeredAt?: Date;
  ended?: CallEvent & { type: 'ended' };
  timer?: NodeJS.Timeout;
}

/** What all its processes share: the carrier's own memory. */
export class PretendedWorld {
  readonly calls = new Map<string, PretendedCall>();
  readonly listeners = new Set<CallEventListener>();
  readonly callees: Record<string, PretendedCallee>;

  constructor(callees: Record<string, PretendedCallee>) {
    this.callees = callees;
  }

  place(request: CallRequest): void {
    if (this.calls.has(request.roomId)) return;
    const call: PretendedCall = { request };
    this.calls.set(request.roomId, call);
    const { outcome, ring, talk } = this.callees[request.to] ?? { outcome: 'invalid_number' as const, ring: 1 };
    const [ringMs, talkMs] = [request.ringTimeoutSeconds * 1000, request.maxCallSeconds * 1000];
    const later = (ms: number, act: () => void) => {
      call.timer = setTimeout(act, ms);
    };
    const talking = () => {
      call.answeredAt = this.#tell(request.roomId, 'answered');
      if (talk! > talkMs) later(talkMs, () => this.end(request.roomId, outcome, 'time_limit'));
      else later(talk!, () => this.end(request.roomId, outcome, 'callee'));
    };
    later(5, () => {
      call.ringingAt = this.#tell(request.roomId, 'ringing');
      if (ring > ringMs) later(ringMs, () => this.end(request.roomId, 'no_answer', 'service'));
      else later(ring, talk === undefined ? () => this.end(request.roomId, outcome, 'callee') : talking);
    });
  }

  end(roomId: string, outcome: CallOutcome, endedBy: EndedBy): void {
    const call = this.calls.get(roomId)!;
    clearTimeout(call.timer);
    call.ended = { roomId, at: new Date(), type: 'ended', outcome, endedBy };
    this.#emit(call.ended);
  }

  #tell(roomId: string, type: 'ringing' | 'answered'): Date {
    const at = new Date();
    this.#emit({ roomId, at, type });
    return at;
  }

  #emit(event: CallEvent): void {
    for (const listener of [...this.listeners]) listener([event]);
  }
}

/** A process's side of a carrier that is neither the simulator nor SIP. It knows calls by their rooms alone. */
export function pretendedCalls(world: PretendedWorld): CallGateway {
  const own = new Set<CallEventListener>();
  let runs = false;
  const stateOf = ({ ended, ringingAt, answeredAt }: PretendedCall): CallState => {
    const times = { ...(ringingAt && { ringingAt }), ...(answeredAt && { answeredAt }) };
    if (ended) {
      const { outcome, endedBy, at: endedAt } = ended;
      return { state: 'ended', outcome, endedBy, endedAt, ...times };
    }
    return { state: 'live', phase: answeredAt ? 'answered' : ringingAt ? 'ringing' : 'dialing', ...times };
  };
  return {
    capabilities: { simulated: false },
    placeCall: async (request) => {
      if (!runs) return { status: 'rejected', outcome: 'trunk_error', detail: 'it is stopped' };
      world.place(request);
      return { status: 'accepted' };
    },
    endCall: async ({ roomId }: CallReference) => {
      const call = world.calls.get(roomId);
      if (!call) return 'absent';
      if (call.ended) return 'already_ended';
      world.end(roomId, call.answeredAt ? 'answered' : 'cancelled', 'service');
      return 'ending';
    },
    sendDigits: async (roomId) => {
      const call = world.calls.get(roomId);
      return call?.answeredAt && !call.ended ? { isSent: true } : { isSent: false, reason: 'call_ended' };
    },
    lookup: async ({ roomId }) => {
      const call = world.calls.get(roomId);
      return call ? stateOf(call) : { state: 'absent' };
    },
    onEvents: (listener) => {
      own.add(listener);
      world.listeners.add(listener);
      return () => {
        own.delete(listener);
        world.listeners.delete(listener);
      };
    },
    onInbound: () => () => {},
    answerInbound: async () => {},
    rejectInbound: async () => {},
    start: async () => {
      runs = true;
    },
    stop: async () => {
      runs = false;
      for (const listener of own) world.listeners.delete(listener);
    },
  };
}

/** A market that has ten numbers. @param losesAnswer the one that it sells without an answer */
export function pretendedMarket(losesAnswer: string): NumberMarket {
  const sold = new Map<string, string>();
  const all = Array.from({ length: 10 }, (_, i) => `+1312555010${i}`);
  const boughtBy = (key: string): ProviderNumber | undefined => {
    const phoneNumber = [...sold].find(([, by]) => by === key)?.[0];
    return phoneNumber === undefined ? undefined : { phoneNumber };
  };
  return {
    knowsKeys: true,
    searchNumbers: async ({ contains = '', limit }) =>
      all
        .filter((number) => !sold.has(number) && number.includes(contains))
        .slice(0, limit)
        .map((phoneNumber) => ({ phoneNumber })),
    buyNumber: async ({ phoneNumber, idempotencyKey }) => {
      const bought = boughtBy(idempotencyKey);
      if (bought) return bought;
      if (sold.has(phoneNumber)) throw new NumberError('unavailable', 'It is sold.');
      sold.set(phoneNumber, idempotencyKey);
      if (phoneNumber === losesAnswer) throw new NumberError('temporary', 'The answer was lost.');
      return { phoneNumber };
    },
    lookupNumberPurchase: async (key) => boughtBy(key),
    releaseNumber: async ({ phoneNumber }) => void sold.delete(phoneNumber),
  };
}
