import type { Conversation } from './conversation.ts';
import type { Sound, VoiceEnd } from './sound.ts';
import type { Voice } from './voice.ts';

/** Whoever is in another call, as the voice of the leg that it is handed on to: both are joined once that has answered. */
export class OtherParty implements Voice {
  readonly agentId = undefined;
  readonly joinsAt = 'answered';
  readonly #first: Conversation;
  readonly #pair: string;
  readonly #joined: () => Promise<unknown>;

  /**
   * @param pair names the two, for their sound
   * @param joined notes that they are
   */
  constructor(first: Conversation, pair: string, joined: () => Promise<unknown>) {
    this.#first = first;
    this.#pair = pair;
    this.#joined = joined;
  }

  async join(sound: Sound): Promise<VoiceEnd | undefined> {
    await sound.speak('relay', { pair: this.#pair, isFirst: true });
    if (!(await this.#first.joinOther(this.#pair))) return { reason: 'call_ended' };
    await this.#joined();
    return undefined;
  }
}
