import { Worker } from 'node:worker_threads';
import type { MediaEvent } from './media-events.ts';
import type { Act, Answered, Asks, Told } from './worker-channel.ts';

/** Who hears of a call that a thread holds. */
export interface CallListener {
  event: (event: MediaEvent) => void;
  /** Answers what a voice asks. @throws what the voice is told */
  ask: (what: unknown) => Promise<unknown>;
}

/** A thread that doesn't answer for this long hangs, and is ended. */
const ANSWER_MS = 10_000;
/** After its call's close a voice can ask for so long, such as to keep what was said. */
export const ANSWERS_AFTER_MS = 15_000;

/** The thread died before it answered; its calls have lost their media. */
export class MediaLostError extends Error {}

/** A call's media could not be opened, or there is no such call; `code` is that of the system. */
export class MediaFault extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

interface Waiting {
  resolve: (answer: never) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout;
}

/** One worker thread, as the process sees it. */
export class MediaThread {
  /** The calls that it holds, and who hears of them. */
  readonly calls = new Map<string, CallListener>();
  /** Who answers the voices of calls that were closed just now. */
  #closed = new Map<string, CallListener['ask']>();
  #worker: Worker;
  #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isDead = false;
  #ending: Promise<unknown> | undefined;

  #onLate: () => void;

  /**
   * @param worker the thread's program, which calls `serveMedia`
   * @param workerData for it
   * @param died told once, after its calls have been; with what the thread threw, if it threw
   * @param onLate told of each turn of its calls that begins late
   */
  constructor(
    worker: URL,
    workerData: unknown,
    died: (thread: MediaThread, error: Error | undefined) => void,
    onLate: () => void,
  ) {
    this.#onLate = onLate;
    this.#worker = new Worker(worker, { workerData });
    let thrown: Error | undefined;
    this.#worker.on('message', (told: Told) => this.#hear(told));
    this.#worker.on('error', (error) => {
      thrown = error as Error;
    });
    this.#worker.on('exit', () => {
      this.#lose();
      died(this, thrown);
    });
  }

  /**
   * @param extraMs how long the answer may take beyond the usual
   * @throws MediaLostError, MediaFault
   */
  ask<A extends Act>(call: string, act: A, ask: Asks[A]['ask'], extraMs = 0): Promise<Asks[A]['answer']> {
    return new Promise((resolve, reject) => {
      if (this.#isDead) return reject(new MediaLostError('The media thread has died.'));
      this.#lastId += 1;
      const id = this.#lastId;
      // Where the whole process stood still the answer may be there, and is read before this looks.
      const look = () => void (this.#waiting.has(id) && this.end());
      const timer = setTimeout(() => setImmediate(look), ANSWER_MS + extraMs);
      this.#waiting.set(id, { resolve: resolve as (answer: never) => void, reject, timer });
      this.#worker.postMessage({ id, call, act, ask });
    });
  }

  /** Ends the thread; its calls are told. */
  async end(): Promise<void> {
    this.#ending ??= this.#worker.terminate();
    await this.#ending;
  }

  #hear(told: Told): void {
    if ('event' in told) {
      this.calls.get(told.call)?.event(told.event);
      return;
    }
    if ('asks' in told) {
      void this.#answer(told.call, told.asks, told.what);
      return;
    }
    if ('late' in told) {
      this.#onLate();
      return;
    }
    const waiting = this.#waiting.get(told.id);
    if (!waiting) return;
    this.#waiting.delete(told.id);
    clearTimeout(waiting.timer);
    if ('fault' in told) waiting.reject(new MediaFault(told.fault.message, told.fault.code));
    else waiting.resolve(told.answer as never);
  }

  /** Holds a call no more. Its voice is answered for some seconds still. */
  forget(call: string): void {
    const { ask } = this.calls.get(call) ?? {};
    this.calls.delete(call);
    if (!ask) return;
    this.#closed.set(call, ask);
    setTimeout(() => this.#closed.delete(call), ANSWERS_AFTER_MS).unref();
  }

  async #answer(call: string, answered: number, what: unknown): Promise<void> {
    const ask = this.calls.get(call)?.ask ?? this.#closed.get(call);
    const told: Answered = await (async () => {
      try {
        if (!ask) throw new Error('The call is over.');
        return { answered, answer: await ask(what) };
      } catch (error) {
        return { answered, fault: (error as Error).message };
      }
    })();
    this.#worker.postMessage(told);
  }

  #lose(): void {
    this.#isDead = true;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new MediaLostError('The media thread has died.'));
    }
    this.#waiting.clear();
    const told = [...this.calls.values()];
    this.calls.clear();
    for (const { event } of told) event({ type: 'media_lost' });
  }
}
