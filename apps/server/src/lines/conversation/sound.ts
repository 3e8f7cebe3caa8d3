import { MediaFault } from '@trunkline/media';
import type { StreamEnd } from '../media/agent-end.ts';
import type { DigitsSent } from '../media/digits.ts';
import type { CallMedia, CallMediaEvent, CallMediaStats, Media, MediaVoices } from '../media/media.ts';
import type { Listener } from '../telephony/call-gateway.ts';

/** How a voice ended, or why it never came. */
export type VoiceEnd = StreamEnd | { reason: 'media_lost'; text?: string };

/** What sound tells, and voices by it. */
export type SoundInput =
  | { type: 'voice_heard' }
  | { type: 'voice_ended'; end: VoiceEnd }
  /** Nothing was heard of an answered far side for long. */
  | { type: 'silent' }
  /** The thread that carried the sound has died. */
  | { type: 'media_lost' };

/** Who hears of a sound. */
export interface SoundListener {
  tell: (input: SoundInput) => void;
  /** Does what a voice asks for, and answers it. */
  serve: (what: unknown) => Promise<unknown>;
}

/** Without one packet for so long an answered call is over, in milliseconds. */
const SILENCE_MS = 30_000;

/** The sound of a conversation: its sockets, and what flows between its legs and its voice. */
export class Sound {
  readonly #media: Media;
  readonly #owner: string;
  readonly #listener: SoundListener;
  readonly #beside: Sound | undefined;
  #opened: CallMedia | undefined;
  #isClosed = false;
  readonly #listeners = new Set<Listener>();

  /**
   * @param owner whose it is, for the shares of ports
   * @param beside the sound that it is to be joined with
   */
  constructor(media: Media, owner: string, listener: SoundListener, beside?: Sound) {
    this.#beside = beside;
    this.#media = media;
    this.#owner = owner;
    this.#listener = listener;
  }

  /**
   * Opens its sockets.
   * @returns the port for RTP
   * @throws NoMediaRoomError, MediaFault
   */
  async open(): Promise<number> {
    const options = {
      owner: this.#owner,
      silenceMs: SILENCE_MS,
      ...(this.#beside && { beside: this.#beside.#opened?.rtpPort ?? 0 }),
      onEvent: (event: CallMediaEvent) => this.#hear(event),
      onAsk: (what: unknown) => this.#listener.serve(what),
    };
    const opened = await this.#media.openCall(options);
    if (this.#isClosed) {
      await opened.close().catch(() => {});
      throw new MediaFault('The call has ended.', undefined);
    }
    this.#opened = opened;
    return opened.rtpPort;
  }

  #hear(event: CallMediaEvent): void {
    if (event.type === 'voice_heard' || event.type === 'voice_ended') this.#listener.tell(event);
    else if (event.type === 'sound') for (const each of this.#listeners) each.sound(event.side, event.ulaw);
    else if (event.type === 'no_media') this.#listener.tell({ type: 'silent' });
    else if (event.type === 'media_lost') this.#listener.tell({ type: 'media_lost' });
  }

  /** Where it is sent, and how. */
  async setStream(...asked: Parameters<CallMedia['setStream']>): Promise<void> {
    await this.#opened!.setStream(...asked);
  }

  /** The far side has answered: it is heard from now on. @param recordTo the path of a WAV file to record to */
  async begin(recordTo: string | undefined): Promise<void> {
    await this.#opened!.answer(recordTo);
  }

  /** Gives it a voice. */
  async speak<K extends keyof MediaVoices>(
    kind: K,
    ask: MediaVoices[K]['ask'],
    extraMs?: number,
  ): Promise<MediaVoices[K]['answer']> {
    return await this.#opened!.speak(kind, ask, extraMs);
  }

  async digit(digit: string): Promise<void> {
    await this.#opened?.digit(digit);
  }

  /** Sends digits in the sound's packets. @returns what came of them; nothing is thrown */
  async sendDigits(digits: string): Promise<DigitsSent> {
    if (!this.#opened || this.#isClosed) return { isSent: false, reason: 'call_ended' };
    return await this.#opened.sendDigits(digits).then(
      () => ({ isSent: true }),
      () => ({ isSent: false, reason: this.#isClosed ? 'call_ended' : 'no_sound' }),
    );
  }

  /** Has somebody hear both sides from now on. @returns what ends that */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    const tell = () => void this.#opened?.listen(this.#listeners.size > 0).catch(() => {});
    tell();
    return () => {
      if (this.#listeners.delete(listener)) tell();
    };
  }

  /** Frees its sockets, now or as soon as they are open. @returns what was counted, as far as the thread lives */
  async close(): Promise<CallMediaStats | undefined> {
    this.#isClosed = true;
    for (const each of this.#listeners) each.ended();
    this.#listeners.clear();
    return await this.#opened?.close().catch(() => undefined);
  }
}
