import { Worker } from 'node:worker_threads';
import type { MediaEvent } from './media-events.ts';
import type { Act, Asks, Told } from './worker-channel.ts';

/** A thread that doesn't answer for this long hangs, and is ended. */
const ANSWER_MS = 10_000;

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
  /** The calls that it holds, and who is told of their events. */
  readonly calls = new Map<string, (event: MediaEvent) => void>();
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
      this.calls.get(told.call)?.(told.event);
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

  #lose(): void {
    this.#isDead = true;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new MediaLostError('The media thread has died.'));
    }
    this.#waiting.clear();
    const told = [...this.calls.values()];
    this.calls.clear();
    for (const tell of told) tell({ type: 'media_lost' });
  }
}
