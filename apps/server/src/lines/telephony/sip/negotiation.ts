import { type CallHandlers, hasKeys, type Info, type LocalAudio, SdpSession, type TransportName } from '@trunkline/sip';
import type { Logger } from 'pino';
import type { LegInput } from '../../conversation/leg.ts';
import type { Sound } from '../../conversation/sound.ts';
import { atPort } from '../../conversation/test-call-media.ts';

/** What the two sides of a call say of their sound, and that it is followed. */
export class Negotiation {
  /** Addresses that media may be sent to although they are private: the trunk's, judged already. */
  trusted: string[] = [];
  readonly #networks: readonly string[];
  #session: SdpSession | undefined;
  #sound: Sound | undefined;
  #localAddress: string | undefined;
  /** Whether keys may go over TLS only. */
  #hidesKeys = false;
  readonly #roomId: string;
  readonly #log: Logger;
  readonly #tell: (input: LegInput) => void;

  /** @param networks what the trunk says that it calls from: sound may come from there as from its address */
  constructor(roomId: string, networks: readonly string[], log: Logger, tell: (input: LegInput) => void) {
    this.#roomId = roomId;
    this.#networks = networks;
    this.#log = log;
    this.#tell = tell;
  }

  /**
   * Opens the sockets of the call's sound.
   * @param local what is said of it: our address, as the peer sees it, and how we speak
   * @param keysInClear whether keys may go over what isn't TLS
   * @throws NoMediaRoomError, MediaFault
   */
  async open(sound: Sound, local: Omit<LocalAudio, 'port'>, keysInClear: boolean): Promise<SdpSession> {
    const port = await sound.open();
    this.#hidesKeys = !keysInClear && (local.encryption ?? 'none') !== 'none';
    const { address } = local;
    this.#sound = sound;
    this.#localAddress = atPort(address, port);
    this.#session = new SdpSession({ ...local, port });
    return this.#session;
  }

  /** Takes the other side's answer to our offer, early or final. @returns whether it can be taken */
  async takeAnswer(sdp: string): Promise<boolean> {
    const { refused } = this.#session!.readAnswer(sdp);
    if (!refused) return this.#setStream();
    this.#log.warn({ roomId: this.#roomId, reason: refused.text }, 'an answer can not be taken');
    return false;
  }

  async #setStream(): Promise<boolean> {
    try {
      await this.#sound!.setStream(this.#session!.audio!, this.trusted, this.#networks);
      return true;
    } catch (error) {
      this.#log.warn({ err: error, roomId: this.#roomId }, 'sound can not be sent');
      return false;
    }
  }

  /**
   * @param over what the answer goes over
   * @returns our answer to an offer, or our offer if there is none; nothing if it can't be taken
   */
  async answer(offer: string | undefined, over: TransportName): Promise<string | undefined> {
    const session = this.#session!;
    if (this.#hidesKeys && over !== 'tls' && (offer === undefined || hasKeys(offer))) {
      this.#log.warn({ roomId: this.#roomId, over }, 'an offer was refused: keys would be sent in clear');
      return undefined;
    }
    if (offer === undefined) return session.offer();
    const answered = session.answer(offer);
    if (answered.refused) {
      this.#log.info({ roomId: this.#roomId, reason: answered.refused.text }, 'an offer was refused');
      return undefined;
    }
    if (await this.#setStream()) return answered.answer;
    session.withdraw();
    return undefined;
  }

  /** What the peer says of the session, and the digits that it sends, all through the call. */
  handlers(): Pick<CallHandlers, 'onOffer' | 'onAnswerUnsent' | 'onAnswer' | 'onInfo'> {
    return {
      onOffer: (offer, over) => this.answer(offer, over),
      onAnswerUnsent: () => {
        this.#session!.withdraw();
        if (this.#session!.audio) void this.#setStream();
      },
      onAnswer: (sdp) => void this.takeAnswer(sdp),
      onInfo: (info) => {
        const digit = digitOf(info);
        if (digit !== undefined) this.#tell({ type: 'digit', digit });
      },
    };
  }

  addresses(): { localAddress?: string; remoteAddress?: string } {
    const remote = this.#session?.audio?.remote;
    return {
      ...(this.#localAddress && { localAddress: this.#localAddress }),
      ...(remote && { remoteAddress: atPort(remote.address, remote.port) }),
    };
  }
}

/** `Signal=5` of application/dtmf-relay, or the digit alone of application/dtmf. */
function digitOf({ contentType, body }: Info): string | undefined {
  if (/^application\/dtmf-relay/i.test(contentType)) return /^\s*signal\s*=\s*([0-9A-D*#])\s*$/im.exec(body)?.[1];
  return /^application\/dtmf\b/i.test(contentType) ? /^\s*([0-9A-D*#])\s*$/i.exec(body)?.[1] : undefined;
}
