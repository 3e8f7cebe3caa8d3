import type { ServerResponse } from 'node:http';
import type { OpenStream, StreamFrame, StreamSender, StreamSource } from './handler.ts';

/** How often all open streams are looked at. */
const TICK_MS = 1000;
/** Ticks between two comments that keep proxies from closing a silent stream. */
const PING_TICKS = 15;
/** Ticks in which a client may read nothing while something waits for it. */
const STALL_TICKS = 30;

const PING = Buffer.from(': ping\n\n');

/** A frame goes to all streams of a resource, and is written out once. */
const written = new WeakMap<StreamFrame, Buffer>();

function bytesOf(frame: StreamFrame): Buffer {
  const known = written.get(frame);
  if (known) return known;
  const event = frame.event && `event: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n`;
  const bytes = Buffer.from(`id: ${frame.id}\n${event}\n`);
  written.set(frame, bytes);
  return bytes;
}

/** Sends server-sent events, as a source has them, until the source, the client or the server ends it. */
export class EventStream implements OpenStream {
  readonly #response: ServerResponse;
  readonly #open: Set<EventStream>;
  readonly #onOver: (error?: unknown) => void;
  readonly #sender: StreamSender;
  #isOver = false;
  #ticks = 0;
  #ticksWithoutRoom = 0;

  /**
   * @param open those that are open, and this one until it is over
   * @param onOver called once, with what the source failed with
   */
  constructor(
    response: ServerResponse,
    source: StreamSource,
    open: Set<EventStream>,
    onOver: (error?: unknown) => void,
  ) {
    this.#response = response;
    this.#open = open;
    this.#onOver = onOver;
    this.#sender = source(this);
    open.add(this);
    // Not `once`, which holds 200 bytes more of each.
    response.on('close', () => this.end());
  }

  send(frame: StreamFrame): boolean {
    return this.#write(bytesOf(frame));
  }

  end(): void {
    if (!this.#over()) return;
    // What waits for a client that doesn't read would keep its connection for ever.
    if (this.#response.writableNeedDrain) this.#response.destroy();
    else this.#response.end();
  }

  fail(error: unknown): void {
    this.#over(error);
  }

  /** Ends it with `retry:`, so that the client comes back, to another server. */
  sendAway(): void {
    if (!this.#over()) return;
    this.#response.end(`retry: ${500 + Math.floor(Math.random() * 1500)}\n\n`);
  }

  /**
   * Pings a silent stream, and drops who reads nothing of what waits for it: that client goes on from its `Last-Event-ID`
   * when it comes back.
   */
  tick(): void {
    this.#ticks += 1;
    if (this.#response.writableNeedDrain) {
      this.#ticksWithoutRoom += 1;
      if (this.#ticksWithoutRoom >= STALL_TICKS) this.end();
    } else if (this.#ticks % PING_TICKS === 0) this.#write(PING);
  }

  #write(bytes: Buffer): boolean {
    if (this.#response.write(bytes)) return true;
    this.#response.once('drain', () => this.#onRoom());
    return false;
  }

  #onRoom(): void {
    this.#ticksWithoutRoom = 0;
    if (!this.#isOver) this.#sender.onRoom();
  }

  /** @returns whether it was open until now */
  #over(error?: unknown): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#open.delete(this);
    this.#sender.onEnd();
    this.#onOver(error);
    return true;
  }
}

/** The open streams of a process, all with one timer. */
export interface EventStreams {
  /**
   * Opens a stream behind headers that were sent. `onOver` is called once it has ended, which may be at once, with what the
   * source failed with.
   */
  open(response: ServerResponse, source: StreamSource, onOver: (error?: unknown) => void): EventStream;
}

/** @param draining ends them all */
export function createEventStreams(draining: AbortSignal, tickMs = TICK_MS): EventStreams {
  const open = new Set<EventStream>();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    for (const stream of open) stream.tick();
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  draining.addEventListener('abort', () => {
    for (const stream of open) stream.sendAway();
  });
  return {
    open(response, source, onOver) {
      const stream = new EventStream(response, source, open, onOver);
      timer ??= setInterval(tick, tickMs);
      if (response.destroyed) stream.end();
      else if (draining.aborted) stream.sendAway();
      return stream;
    },
  };
}
