import { levelOf, Words } from '@trunkline/media';

/** The callee's voice is louder than so much of what it is told: what is not may be its echo. */
const ABOVE_ECHO = 0.2;
/** How fast what may come back fades, a frame: to a half in a second, since it is played and comes back later. */
const FADE = 0.986;
/** Frames without a word after which somebody has stopped speaking: 300 ms. */
const STOPS_AFTER = 15;

/** Tells when a callee begins and stops to speak, where the model doesn't, by the energy of the sound: after three loud frames. */
export class SpeechDetector {
  readonly #words = new Words();
  /** How loud what it is told has been. */
  #told = 0;
  #silent = 0;
  #isSpeaking = false;

  /** @param ulaw of the model, of any length */
  tell(ulaw: Buffer): void {
    this.#told = Math.max(this.#told, levelOf(ulaw));
  }

  /** @param frame 20 ms of the callee */
  hear(frame: Buffer): 'begins' | 'stops' | undefined {
    this.#told *= FADE;
    const isWord = this.#words.hear(frame) && levelOf(frame) > ABOVE_ECHO * this.#told;
    this.#silent = isWord ? 0 : this.#silent + 1;
    if (isWord === this.#isSpeaking || (!isWord && this.#silent < STOPS_AFTER)) return undefined;
    this.#isSpeaking = isWord;
    return isWord ? 'begins' : 'stops';
  }
}
