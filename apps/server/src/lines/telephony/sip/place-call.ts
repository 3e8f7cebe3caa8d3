import { MediaFault, MediaLostError, NoMediaRoomError } from '@trunkline/media';
import {
  type Call,
  deriveIdentifiers,
  type InviteOptions,
  type OutgoingCall,
  SipSyntaxError,
  type StoredDialog,
  type Target,
  TransportError,
  type UserAgent,
} from '@trunkline/sip';
import type { Logger } from 'pino';
import type { EndedCall, Leg, LegInput, NotSent, Unready, Wire } from '../../conversation/leg.ts';
import type { Sound } from '../../conversation/sound.ts';
import { atPort } from '../../conversation/test-call-media.ts';
import type { DigitsSent } from '../../media/digits.ts';
import type { CallRequest, CallTimes } from '../call-gateway.ts';
import type { Trunk } from '../trunk.ts';
import { callerOf } from './caller-of.ts';
import { dialledNumber } from './dialled-number.ts';
import { type KeepingParts, KeptCall } from './kept-call.ts';
import { legEndOf } from './leg-end.ts';
import { Negotiation } from './negotiation.ts';
import { sendDigits } from './send-digits.ts';
import { isOutOfService } from './target-health.ts';
import { credentialsOf, type TrunkAddress, trunkAddress, userAt } from './trunk-address.ts';
import type { TrunkTargets } from './trunk-targets.ts';

/** What legs over SIP share. */
export interface LegParts extends KeepingParts {
  userAgent: UserAgent;
  log: Logger;
  /** Makes what names a call on the wire, so that it can be found again. */
  secret: string;
  /** Our address as a peer sees it, for sound. */
  addressFor: (peer: string) => string;
  /** Notes that a trunk of that name is where the settings allow it to be. */
  locate: (address: TrunkAddress) => Promise<Target[]>;
  targets: TrunkTargets;
  /** What the two sides of the call say is kept, now that it is over. */
  onEnd: (roomId: string, callId: string) => void;
}

const surelyNotSent = [TransportError, MediaFault, MediaLostError, SipSyntaxError];

/** A telephone that we call over a trunk: one INVITE, which is kept before it leaves. */
export class CalleeLeg implements Leg {
  readonly far = 'callee';
  readonly #parts: LegParts;
  readonly #request: CallRequest & { trunk: Trunk };
  readonly #tell: (input: LegInput) => void;
  readonly #negotiation: Negotiation;
  readonly #kept: KeptCall;
  #invite: InviteOptions | undefined;
  #call: OutgoingCall | undefined;
  #sentTo: Target | undefined;
  #hasLeave = false;
  #isOver = false;
  #notKept: NotSent | undefined;
  #answer: string | undefined;

  constructor(parts: LegParts, request: CallRequest & { trunk: Trunk }, tell: (input: LegInput) => void) {
    this.#parts = parts;
    this.#request = request;
    this.#tell = tell;
    this.#negotiation = new Negotiation(request.roomId, request.trunk.ipAllowlist, parts.log, tell);
    this.#kept = new KeptCall(parts, request.roomId);
  }

  /** Where the call goes, and its sound's sockets. */
  async prepare(sound: Sound): Promise<Unready | undefined> {
    try {
      const targets = await this.#openTargets();
      if (targets.length === 0) return { why: 'no_room', text: 'The trunk leaves another INVITE without an answer.' };
      this.#invite = await this.#inviteFor(targets, sound);
      return undefined;
    } catch (error) {
      const text = (error as Error).message;
      if (error instanceof NoMediaRoomError) return { why: 'no_room', text };
      if (surelyNotSent.some((kind) => error instanceof kind)) return { why: 'unusable', text };
      throw error;
    }
  }

  /** The targets of the trunk that may be called, as far as they see us at one address: the offer names one. */
  async #openTargets(): Promise<Target[]> {
    const { addressFor, locate, targets } = this.#parts;
    const { trunk } = this.#request;
    const [best, ...others] = targets.open(trunk, await locate(trunkAddress(trunk)));
    const ours = best && addressFor(best.address);
    return best ? [best, ...others.filter(({ address }) => addressFor(address) === ours)] : [];
  }

  async #inviteFor(targets: Target[], sound: Sound): Promise<InviteOptions> {
    const { addressFor, secret } = this.#parts;
    const { trunk, to, roomId, ringTimeoutSeconds } = this.#request;
    const address = trunkAddress(trunk);
    const { codecs, mediaEncryption: encryption, keysInClear } = trunk;
    const isReadable = targets.some((target) => target.transport !== 'tls');
    if (encryption !== 'none' && !keysInClear && isReadable)
      throw new TransportError('not_allowed', 'The keys of encrypted sound would be sent in clear.');
    const ours = addressFor(targets[0]!.address);
    const session = await this.#negotiation.open(sound, { address: ours, codecs, encryption }, keysInClear);
    return {
      ...callerOf(this.#request, address),
      to: userAt(dialledNumber(to, trunk), address),
      targets,
      transport: address.transport,
      asker: address.asker,
      ...(address.outboundProxy && { outboundProxy: address.outboundProxy }),
      ...credentialsOf(trunk),
      sdp: session.offer(),
      identifiers: deriveIdentifiers(secret, roomId),
      ringTimeoutMs: ringTimeoutSeconds * 1000,
      isOutOfService,
      ...this.#negotiation.handlers(),
    };
  }

  connect(): void {
    const { targets } = this.#parts;
    const { trunk, roomId } = this.#request;
    this.#call = this.#parts.userAgent.invite({
      ...this.#invite!,
      onState: (dialog) => this.#keep(dialog),
      onProgress: ({ status, sdp }) => {
        this.#hasAnswered();
        this.#tell({ type: 'progress', rings: status >= 180 });
        if (sdp !== undefined) void this.#negotiation.takeAnswer(sdp);
      },
      onAnswered: ({ sdp }) => {
        this.#hasAnswered();
        this.#answer = sdp;
        this.#tell({ type: 'answered' });
      },
      onPassedOn: (target, why) => targets.passedOn(trunk.id, roomId, target, why),
      onEnded: (end) => {
        this.#isOver = true;
        targets.over(trunk.id, roomId, end);
        this.#tell({ type: 'leg_ended', end: legEndOf(end, this.#notKept) });
      },
    });
  }

  /** If only by 100. */
  #hasAnswered(): void {
    this.#parts.targets.answered(this.#request.trunk.id, this.#request.roomId);
  }

  /** What another server would cancel must be kept before it is sent. */
  async #keep(dialog: StoredDialog): Promise<void> {
    // The address that the INVITE goes to was judged when it was connected to.
    if (dialog.phase === 'inviting') {
      this.#sentTo = dialog.invite.target;
      this.#negotiation.trusted = [this.#sentTo.address];
    }
    const hasLeft = dialog.phase !== 'inviting' || dialog.invite.early !== undefined;
    if (this.#hasLeave && hasLeft) return this.#kept.note(dialog);
    const { roomId, attempt, workspaceId, trunk, to, owner, doNotCallRevision } = this.#request;
    const beginning = {
      ...{ roomId, attempt, workspaceId, trunkId: trunk.id, dialog, placing: { to, owner } },
      ...(doNotCallRevision !== undefined && { doNotCallRevision }),
    };
    this.#notKept = await this.#kept.mayLeave(beginning, !this.#hasLeave);
    if (this.#notKept) throw new Error(notKept[this.#notKept]);
    // It may have been given up while it was kept.
    if (!this.#isOver) this.#parts.targets.sent(trunk.id, roomId, this.#sentTo!);
    if (this.#hasLeave) return;
    this.#hasLeave = true;
    this.#tell({ type: 'kept' });
  }

  async agree(): Promise<boolean> {
    return this.#answer !== undefined && (await this.#negotiation.takeAnswer(this.#answer));
  }

  end(): void {
    if (this.#call) hangUp(this.#call, this.#request.roomId, this.#parts.log);
  }

  async sendDigits(digits: string, sound: Sound): Promise<DigitsSent> {
    return await sendDigits(this.#request.trunk.dtmf, this.#call!, digits, sound);
  }

  async keepTimes(times: CallTimes): Promise<void> {
    await this.#kept.times(times);
  }

  async keepEnd(ended: EndedCall): Promise<void> {
    if (this.#call) this.#parts.onEnd(ended.roomId, this.#call.callId);
    await this.#kept.end(ended);
  }

  wire(): Wire {
    const { address, port } = this.#sentTo ?? {};
    return {
      ...(address !== undefined && port !== undefined && { trunkAddress: atPort(address, port) }),
      ...this.#negotiation.addresses(),
    };
  }
}

/** Ends a call, whatever it is doing. */
export function hangUp(call: Call, roomId: string, log: Logger): void {
  call.hangUp().catch((error) => log.error({ err: error, roomId }, 'a call could not be hung up'));
}

const notKept: Record<NotSent, string> = {
  cancelled: 'it was ended before',
  forbidden: 'the callee has asked not to be called',
  unwitnessed: 'no witness could be told of the call',
  not_kept: 'another server has the call, or this one was given up',
  fault: 'it failed',
};
