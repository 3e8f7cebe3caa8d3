import type { IncomingCall } from '@trunkline/sip';
import type { Logger } from 'pino';
import type { Clock } from '../../../foundation/values/clock.ts';
import { newUuid } from '../../../foundation/values/ids.ts';
import type { InboundCall } from '../call-gateway.ts';
import type { NumberLookups } from './number-lookups.ts';
import { type ArrivedCall, agentFull, noRoom } from './take-call.ts';

const rejections = { declined: [603] as typeof noRoom, no_room: agentFull, unavailable: noRoom };

const MOST_ADDRESSES = 1000;
const isPowerOfTwo = (count: number) => count > 0 && (count & (count - 1)) === 0;

/** The calls that have arrived in this process, and ring until somebody says who takes them. */
export class ArrivingCalls {
  readonly #ringing = new Map<string, ArrivedCall>();
  readonly #listeners = new Set<(call: InboundCall) => void>();
  readonly #refusals = new Map<string, { since: number; times: number }>();
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  onInbound(listener: (call: InboundCall) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async receive(incoming: IncomingCall, lookups: NumberLookups, isDraining: boolean): Promise<void> {
    const { request, source, username } = incoming;
    if (isDraining || this.#listeners.size === 0) return incoming.reject(...noRoom);
    const read = await lookups.read(request, source, username);
    if (read === 'full') return incoming.reject(...noRoom);
    if (typeof read === 'string') {
      const times = read === 'unknown' ? this.#refused(source.address) : 0;
      const where = { uri: request.uri, source: source.address, times };
      if (isPowerOfTwo(times)) this.#log.warn(where, 'a call to no number of its trunk is refused');
      return incoming.reject(404);
    }
    const providerCallId = newUuid();
    const { networks, dtmf, mediaEncryption, keysInClear, ...told } = read;
    this.#ringing.set(providerCallId, { incoming, networks, dtmf, mediaEncryption, keysInClear });
    void incoming.ended.then(() => this.#ringing.delete(providerCallId));
    incoming.ring();
    const call = { providerCallId, ...told, at: this.#clock.now() };
    for (const listener of this.#listeners) listener(call);
  }

  /** How often a call from an address was refused in this minute: of many an ever smaller share is logged. */
  #refused(address: string): number {
    const now = performance.now();
    const known = this.#refusals.get(address);
    const count = known && now - known.since < 60_000 ? known : { since: now, times: 0 };
    count.times += 1;
    this.#refusals.delete(address);
    this.#refusals.set(address, count);
    if (this.#refusals.size > MOST_ADDRESSES) this.#refusals.delete(this.#refusals.keys().next().value!);
    return count.times;
  }

  /** Nothing if it is gone. */
  get({ providerCallId }: InboundCall): ArrivedCall | undefined {
    return this.#ringing.get(providerCallId);
  }

  reject(call: InboundCall, why: keyof typeof rejections): void {
    this.get(call)?.incoming.reject(...rejections[why]);
  }
}
