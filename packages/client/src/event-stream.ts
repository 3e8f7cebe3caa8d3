import { ConnectionError, errorOf, TrunklineError } from './errors.ts';
import { createEventParser } from './event-parser.ts';
import { backoff, LONGEST_WAIT_SECONDS, sleep, watchdog } from './send.ts';

export interface EventOptions {
  /** Ends the stream; the loop then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** `eventId` of the last event that was seen, or `after` of one of the feed: only what came after it is sent. */
  lastEventId?: string;
}

interface Opened {
  data?: ReadableStream<Uint8Array> | null;
  error?: unknown;
  response: Response;
}

/** Asks for the stream. */
type Open = (lastEventId: string | undefined, signal: AbortSignal) => Promise<Opened>;

/** What has a state is told with it: an upload or a run by itself, a campaign beside its figures. */
interface AnyEvent {
  eventId: string;
  data?: { status?: string; campaign?: { status: string } };
}

/** States after which nothing happens without the client; the server closes the stream for good. */
const LAST_STATES: readonly (string | undefined)[] = [
  ...['completed', 'stopped', 'cancelled', 'failed'],
  // Of uploads.
  ...['validated', 'processed', 'expired'],
];
const isLast = ({ data }: AnyEvent) => data !== undefined && LAST_STATES.includes((data.campaign ?? data).status);

/** The server sends a comment every 15 s; a stream that is silent for so long has been lost on the way. */
const LONGEST_SILENCE_MS = 45_000;
/** Connections that broke one after the other before anything came over them. */
const MOST_FAILURES = 12;

/** Statuses that say nothing about the stream itself. */
const MAY_PASS: readonly number[] = [429, 502, 503, 504];

/** A connection that may be better the next time. */
class Disconnected extends ConnectionError {}

/**
 * The events of a stream. Comes back after a lost connection, with the last event it has seen, and honours `retry:`.
 * Ends where the server ends it for good. Throws `TrunklineError` where the server refuses, the signal's reason on
 * abort, and what the network said when the server stays away.
 */
export async function* followEvents<Event extends AnyEvent>(
  open: Open,
  { signal, lastEventId: firstId }: EventOptions = {},
): AsyncGenerator<Event, void, undefined> {
  let lastEventId = firstId;
  let ended = false;
  let retryMs: number | undefined;
  for (let failures = 0; ; failures += 1) {
    const watch = watchdog(signal, LONGEST_SILENCE_MS, new Disconnected('The event stream fell silent.'));
    try {
      const { data, error, response } = await open(lastEventId, watch.signal);
      if (response.status === 204) return;
      if (!response.ok) {
        const refused = errorOf(response, error);
        const { retryAfterSeconds: asked = 0 } = refused;
        if (!MAY_PASS.includes(response.status) || asked > LONGEST_WAIT_SECONDS) throw refused;
        retryMs = Math.max(retryMs ?? 0, asked * 1000);
        throw new Disconnected(refused.message, { cause: refused });
      }
      for await (const { event, id, retry } of read<Event>(data)) {
        failures = 0;
        watch.holdOff();
        retryMs = retry ?? retryMs;
        lastEventId = id ?? event?.eventId ?? lastEventId;
        if (!event) continue;
        ended = isLast(event);
        // However long the caller takes over it, the stream is not silent meanwhile.
        watch.pause();
        yield event;
        watch.holdOff();
      }
    } catch (error) {
      signal?.throwIfAborted();
      // What a lost connection rejects with is each platform's own.
      if (error instanceof TrunklineError || error instanceof SyntaxError) throw error;
      if (failures >= MOST_FAILURES) throw causeOf(error);
    } finally {
      watch.end();
      watch.abort();
    }
    if (ended) return;
    if (failures >= MOST_FAILURES) throw causeOf(undefined);
    await sleep(failures === 0 && retryMs !== undefined ? retryMs : (retryMs ?? 0) + backoff(failures), signal);
  }
}

/** What a caller is told of a stream that stays away. */
function causeOf(error: unknown): unknown {
  if (error instanceof Disconnected) return error.cause ?? error;
  return new ConnectionError('The event stream is lost again and again.', { cause: error });
}

interface Received<Event> {
  event?: Event;
  id?: string | undefined;
  retry?: number;
}

/** What comes over the body. Comments give an empty item, so that they count as a sign of life. */
async function* read<Event>(body: ReadableStream<Uint8Array> | null | undefined): AsyncGenerator<Received<Event>> {
  if (!body) return;
  const parse = createEventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield {};
      for (const { data, ...rest } of parse(decoder.decode(value, { stream: true }))) {
        yield data === undefined ? rest : { ...rest, event: JSON.parse(data) as Event };
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
