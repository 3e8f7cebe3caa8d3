import type { IncomingCall, MediaEncryption } from '@trunkline/sip';
import type { EndedCall, Ending, Leg, LegInput, Unready, Wire } from '../../conversation/leg.ts';
import type { Sound } from '../../conversation/sound.ts';
import type { DigitsSent } from '../../media/digits.ts';
import type { CallTimes } from '../call-gateway.ts';
import type { Trunk } from '../trunk.ts';
import { KeptCall } from './kept-call.ts';
import { legEndOf } from './leg-end.ts';
import { Negotiation } from './negotiation.ts';
import { hangUp, type LegParts } from './place-call.ts';
import { sendDigits } from './send-digits.ts';

const retryAfter: Parameters<IncomingCall['reject']>[1] = { headers: [['Retry-After', '5']] };

/** How a caller is turned away if the server has no room: it may try again after so many seconds. */
export const noRoom: Parameters<IncomingCall['reject']> = [503, retryAfter];

/**
 * How a caller is turned away if its agent alone has no room. By a 503 with Retry-After a carrier may keep away from the
 * whole server (RFC 3261 section 21.5.4), and so from everybody else's agents; 480 is about who is called.
 */
export const agentFull: Parameters<IncomingCall['reject']> = [480, retryAfter];

const rejections: Record<Exclude<Ending, 'hang_up'>, Parameters<IncomingCall['reject']>> = {
  no_room: noRoom,
  unusable: [488],
  fault: [500],
};

/** A call that has arrived. */
export interface ArrivedCall {
  incoming: IncomingCall;
  /** What its trunk says that it calls from. */
  networks: readonly string[];
  /** And how it is sent digits. */
  dtmf: Trunk['dtmf'];
  /** Whether its trunk wants sound encrypted, and keys may go over what isn't TLS. */
  mediaEncryption: MediaEncryption;
  keysInClear: boolean;
}

/** Somebody who calls us over a trunk, and hears it ring until an agent is there. */
export class CallerLeg implements Leg {
  readonly far = 'caller';
  readonly #parts: LegParts;
  readonly #call: { roomId: string; workspaceId: string };
  readonly #incoming: IncomingCall;
  readonly #dtmf: Trunk['dtmf'];
  readonly #encryption: MediaEncryption;
  readonly #keysInClear: boolean;
  readonly #mayHaveKeys: boolean;
  readonly #tell: (input: LegInput) => void;
  readonly #negotiation: Negotiation;
  readonly #kept: KeptCall;
  /** What it is answered with, and what it answered if it left the offer to us. */
  #answer: string | undefined;
  #answered: string | undefined;

  constructor(
    parts: LegParts,
    call: { roomId: string; workspaceId: string },
    { incoming, networks, dtmf, mediaEncryption, keysInClear }: ArrivedCall,
    tell: (input: LegInput) => void,
  ) {
    this.#parts = parts;
    this.#call = call;
    this.#incoming = incoming;
    this.#dtmf = dtmf;
    this.#encryption = mediaEncryption;
    this.#keysInClear = keysInClear;
    this.#mayHaveKeys = keysInClear || incoming.source.transport === 'tls';
    this.#tell = tell;
    this.#negotiation = new Negotiation(call.roomId, networks, parts.log, tell);
    this.#kept = new KeptCall(parts, call.roomId);
    incoming.asker = call.workspaceId;
    // It may be gone already.
    void incoming.ended.then((end) => tell({ type: 'leg_ended', end: legEndOf(end) }));
  }

  async prepare(sound: Sound): Promise<Unready | undefined> {
    const { roomId, workspaceId } = this.#call;
    const incoming = this.#incoming;
    incoming.listen({
      ...this.#negotiation.handlers(),
      onState: (dialog) => this.#kept.note(dialog),
      onAnswered: ({ sdp }) => {
        this.#answered = sdp;
        this.#tell({ type: 'answered' });
      },
    });
    const begun = await this.#kept.begin({ roomId, workspaceId, attempt: 1, dialog: incoming.stored });
    if (begun !== 'begun') return { why: 'not_ours', text: 'Another server has the call.' };
    if (this.#encryption === 'required' && !this.#mayHaveKeys)
      return {
        why: 'unusable',
        text: 'Its sound must be encrypted, and it did not come over TLS, which hides the keys.',
      };
    try {
      const address = this.#parts.addressFor(incoming.source.address);
      const encryption = this.#mayHaveKeys ? this.#encryption : 'none';
      await this.#negotiation.open(sound, { address, codecs: ['PCMU', 'PCMA'], encryption }, this.#keysInClear);
    } catch (error) {
      return { why: 'no_room', text: (error as Error).message };
    }
    this.#negotiation.trusted = [incoming.source.address];
    this.#answer = await this.#negotiation.answer(incoming.sdp, incoming.source.transport);
    return this.#answer === undefined
      ? { why: 'unusable', text: 'The offer of the caller can not be taken.' }
      : undefined;
  }

  connect(): void {
    // Frozen meanwhile, this server was given up: another may have ended the call already.
    if (this.#parts.isGivenUp()) this.#tell({ type: 'given_up' });
    else this.#incoming.answer(this.#answer!);
  }

  async agree(): Promise<boolean> {
    if (this.#incoming.sdp !== undefined) return true;
    return this.#answered !== undefined && (await this.#negotiation.takeAnswer(this.#answered));
  }

  end(as: Ending): void {
    if (as !== 'hang_up') this.#incoming.reject(...rejections[as]);
    else hangUp(this.#incoming, this.#call.roomId, this.#parts.log);
  }

  async sendDigits(digits: string, sound: Sound): Promise<DigitsSent> {
    return await sendDigits(this.#dtmf, this.#incoming, digits, sound);
  }

  async keepTimes(times: CallTimes): Promise<void> {
    await this.#kept.times(times);
  }

  async keepEnd(ended: EndedCall): Promise<void> {
    this.#parts.onEnd(ended.roomId, this.#incoming.callId);
    await this.#kept.end(ended);
  }

  wire(): Wire {
    return this.#negotiation.addresses();
  }
}
