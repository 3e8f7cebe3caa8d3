import type { Answered, Told } from './worker-channel.ts';

interface Waiting {
  resolve: (answer: unknown) => void;
  reject: (error: Error) => void;
}

/** What the voices of a thread have asked the process, and wait for. */
export class VoiceAsks {
  #tell: (told: Told) => void;
  #waiting = new Map<number, Waiting>();
  #last = 0;

  constructor(tell: (told: Told) => void) {
    this.#tell = tell;
  }

  /** @throws Error with the words of whoever refuses */
  ask(call: string, what: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#last += 1;
      this.#waiting.set(this.#last, { resolve, reject });
      this.#tell({ call, asks: this.#last, what });
    });
  }

  answer(answered: Answered): void {
    const waiting = this.#waiting.get(answered.answered);
    this.#waiting.delete(answered.answered);
    if ('fault' in answered) waiting?.reject(new Error(answered.fault));
    else waiting?.resolve(answered.answer);
  }
}
