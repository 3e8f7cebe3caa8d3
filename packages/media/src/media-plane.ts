import { type AudioStream, isUnspecified } from './audio-stream.ts';
import type { MediaEvent, MediaStats } from './media-events.ts';
import { MediaFault, MediaThread } from './media-thread.ts';
import { type PortShares, RtpPorts } from './rtp-ports.ts';
import { digitsMs, isDigit, isPause } from './telephone-event.ts';
import type { EndOf, Voices } from './voice.ts';
import { BEHIND } from './worker-channel.ts';

/** Whether media may be sent to an address. @param trusted addresses that are open for this call, whatever else holds */
export type IsOpenAddress = (address: string, trusted: readonly string[]) => boolean;

export interface MediaPlaneOptions {
  /** The program of each thread, which calls `serveMedia`, and the `workerData` that it gets. */
  worker: URL;
  workerData: unknown;
  /** How many threads there are; a core carries 150 to 350 calls. */
  workers: number;
  /** The address that RTP is bound to; `0.0.0.0`, or `::` for both families. */
  host: string;
  /** The range of RTP's ports; the port above an even one is its RTCP's, and must lie in it too. */
  portMin: number;
  portMax: number;
  /** Who may take how many of the pairs of ports, of which there are so many. */
  portShares(total: number): PortShares;
  /** Where media may be sent to; the threads judge by their own. */
  isOpenAddress: IsOpenAddress;
  /** Told of a thread that died by itself. */
  onThreadDied(error: Error | undefined): void;
  /** Told, again and again, while packets leave more than 10 ms late: whoever can wait has them go first. */
  onLate?(): void;
  /** Given what was counted of each call, at its end. */
  onClosed?(stats: MediaStats): void;
}

/** What a call is opened with. */
export interface OpenCallOptions<V extends Voices> {
  /** Whose it is, for the shares of ports. */
  owner: string;
  /** Without a packet for this long while talking, `no_media` is told. */
  silenceMs: number;
  onEvent: (event: MediaEvent<EndOf<V>>) => void;
  /** The port of another call, by whose thread this one is carried: their voices can meet there. */
  beside?: number | undefined;
  /** Answers what its voice asks, until some seconds after its close; without it all is refused. @throws what the voice is told */
  onAsk?(what: unknown): Promise<unknown>;
}

/** All RTP ports are taken, or the threads have no time for another call: capacity, which passes. */
export class NoMediaRoomError extends Error {}

/** The media of one call. Whatever is asked of it after its thread died, or after `close`, is refused (MediaLostError, MediaFault). */
export interface MediaHandle<V extends Voices> {
  /** For our description; RTCP has the one above. */
  readonly rtpPort: number;
  /**
   * What signalling has agreed on: from a 183 with SDP or the 200, and again after each re-INVITE or UPDATE. From the
   * first one silence is sent, until somebody speaks; nothing to an address that is not open, whose owner is waited for. A
   * hold is a stream that is not `sendrecv`.
   * @param trusted addresses that are open beside the public ones: those that its signalling comes from, judged already
   * @param networks from which its sound may come as from near those: addresses, and networks in CIDR form
   */
  setStream(stream: AudioStream, trusted?: readonly string[], networks?: readonly string[]): Promise<void>;
  /**
   * The callee has answered: from now on the voice hears and is heard. What it says before is kept for then; what the
   * callee says before there is a voice, too, up to five seconds.
   * @param recordTo the path of a WAV file to record to
   */
  answer(recordTo?: string): Promise<void>;
  /**
   * Gives the call a voice, before the answer or after it, in place of the one that it has.
   * @param extraMs how long it may take beyond the usual, in milliseconds
   */
  speak<K extends keyof V & string>(kind: K, ask: V[K]['ask'], extraMs?: number): Promise<V[K]['answer']>;
  /** A digit that the callee sent by INFO. What is none is left out. */
  digit(digit: string): Promise<void>;
  /**
   * Sends digits to the callee: as events (RFC 4733) if it takes these, else as tones in the sound. They are in no recording.
   * @param digits those that `isDigit`, and between them `w` for half a second and `W` for a second; all else is left out
   * @returns once they are sent
   * @throws MediaFault if they could not be in time, as in a hold
   */
  sendDigits(digits: string): Promise<void>;
  /** Whether what both sides say from the answer on is told, too, as events. */
  listen(isHeard: boolean): Promise<void>;
  stats(): Promise<MediaStats<EndOf<V>>>;
  /** Ends the media: the voice is closed, BYE by RTCP, the recording to its end. Once only. */
  close(): Promise<MediaStats<EndOf<V>>>;
}

/** Ports that another process has taken are tried this often. */
const MAX_TAKEN_PORTS = 20;
/** A thread that dies young is started again after this long, in ms. */
const RESTART_MS = 1000;

/** The media of all calls of a process, in threads of their own, apart from the API. */
export class MediaPlane<V extends Voices> {
  #options: MediaPlaneOptions;
  #ports: RtpPorts;
  #threads: MediaThread[] = [];
  #isStopped = false;
  /** The threads of the calls that are open, by their ports. */
  #threadOf = new Map<number, MediaThread>();
  #lastCall = 0;

  constructor(options: MediaPlaneOptions) {
    this.#options = options;
    this.#ports = new RtpPorts(options.portMin, options.portMax, options.portShares);
    for (let thread = 0; thread < options.workers; thread += 1) this.#startThread();
  }

  #startThread(): void {
    const { worker, workerData, onLate } = this.#options;
    const startedAt = performance.now();
    const died = (dead: MediaThread, error: Error | undefined) => {
      this.#threads = this.#threads.filter((each) => each !== dead);
      if (this.#isStopped) return;
      this.#options.onThreadDied(error);
      if (performance.now() - startedAt >= RESTART_MS) this.#startThread();
      else setTimeout(() => this.#isStopped || this.#startThread(), RESTART_MS).unref();
    };
    this.#threads.push(new MediaThread(worker, workerData, died, () => onLate?.()));
  }

  /**
   * Opens the media of a call, on the thread that holds fewest of those that keep up.
   * @throws NoMediaRoomError; MediaLostError; MediaFault where the sockets can't be opened
   */
  async openCall(options: OpenCallOptions<V>): Promise<MediaHandle<V>> {
    const { beside } = options;
    const threads =
      beside === undefined ? this.#threads : this.#threads.filter((each) => each === this.#threadOf.get(beside));
    for (const thread of threads.toSorted((a, b) => a.calls.size - b.calls.size)) {
      const opened = await this.#openOn(thread, options);
      if (opened) return opened;
    }
    const why =
      this.#threads.length > 0 ? 'The threads for sound have no time for another call.' : 'No media thread is running.';
    throw new NoMediaRoomError(why);
  }

  /** @returns nothing where the thread is behind with its calls */
  async #openOn(thread: MediaThread, options: OpenCallOptions<V>): Promise<MediaHandle<V> | undefined> {
    this.#lastCall += 1;
    const id = `call_${this.#lastCall}`;
    // Counted before the thread has answered, so that calls that begin at once are spread.
    let isOver = false;
    let rtpPort: number | undefined;
    const end = () => {
      if (isOver) return;
      isOver = true;
      thread.forget(id);
      if (rtpPort === undefined) return;
      this.#threadOf.delete(rtpPort);
      this.#ports.giveBack(rtpPort, options.owner);
    };
    thread.calls.set(id, {
      event: (event) => {
        if (event.type === 'media_lost') end();
        options.onEvent(event as MediaEvent<EndOf<V>>);
      },
      ask: async (what) => {
        if (!options.onAsk) throw new Error('Nobody answers what this call asks.');
        return await options.onAsk(what);
      },
    });
    try {
      rtpPort = await this.#open(thread, id, options);
      this.#threadOf.set(rtpPort, thread);
    } catch (error) {
      end();
      if (error instanceof MediaFault && error.code === BEHIND) return undefined;
      throw error;
    }
    return this.#handle(thread, id, rtpPort, end);
  }

  async #open(thread: MediaThread, call: string, { owner, silenceMs }: OpenCallOptions<V>): Promise<number> {
    const { host, portMin, portMax } = this.#options;
    for (let taken = 0; taken < MAX_TAKEN_PORTS; taken += 1) {
      const rtpPort = this.#ports.take(owner);
      if (rtpPort === undefined) break;
      try {
        await thread.ask(call, 'open', { host, rtpPort, silenceMs });
        return rtpPort;
      } catch (error) {
        this.#ports.giveBack(rtpPort, owner);
        if (!(error instanceof MediaFault && error.code === 'EADDRINUSE')) throw error;
      }
    }
    throw new NoMediaRoomError(`No RTP port is free between ${portMin} and ${portMax}.`);
  }

  #handle(thread: MediaThread, id: string, rtpPort: number, end: () => void): MediaHandle<V> {
    return {
      rtpPort,
      setStream: async (stream, trusted = [], networks = []) => {
        await thread.ask(id, 'stream', { stream: this.#judged(stream, trusted), trusted, networks });
      },
      answer: (recordTo) => thread.ask(id, 'answer', { recordTo }),
      speak: (kind, ask, extraMs) => thread.ask(id, 'speak', { kind, ask }, extraMs) as never,
      digit: async (digit) => {
        if (isDigit(digit)) await thread.ask(id, 'digit', { digit });
      },
      sendDigits: async (asked) => {
        const digits = [...asked].filter((each) => isDigit(each) || isPause(each)).join('');
        await thread.ask(id, 'sendDigits', { digits }, digitsMs(digits));
      },
      listen: (isHeard) => thread.ask(id, 'listen', { isHeard }),
      stats: () => thread.ask(id, 'stats', undefined) as Promise<MediaStats<EndOf<V>>>,
      close: async () => {
        const stats = await thread.ask(id, 'close', undefined).finally(end);
        this.#options.onClosed?.(stats);
        return stats as MediaStats<EndOf<V>>;
      },
    };
  }

  /** @returns the stream, its RTCP beside its RTP where it was to go somewhere else that isn't open */
  #judged(stream: AudioStream, trusted: readonly string[]): AudioStream {
    const { address, port, rtcpAddress } = stream.remote;
    if (isUnspecified(address) || !this.#options.isOpenAddress(address, trusted)) return stream;
    if (this.#options.isOpenAddress(rtcpAddress, trusted)) return stream;
    return { ...stream, remote: { address, port, rtcpAddress: address, rtcpPort: Math.min(port + 1, 65_535) } };
  }

  /** What is carried now; `worstLateMs` asks the threads. */
  load(): { calls: number; threads: number; worstLateMs(): Promise<number> } {
    const threads = this.#threads;
    return {
      calls: threads.reduce((calls, thread) => calls + thread.calls.size, 0),
      threads: threads.length,
      worstLateMs: async () => {
        const late = await Promise.all(threads.map((thread) => thread.ask('', 'worstLate', undefined).catch(() => 0)));
        return Math.max(0, ...late);
      },
    };
  }

  /** Ends the threads; calls that are left lose their media. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}
