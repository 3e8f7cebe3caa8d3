import { setTimeout as sleep } from 'node:timers/promises';
import { type EventOptions, type TrunklineClient, TrunklineError } from '@trunkline/client';
import { fromId } from '../../../src/foundation/values/ids.ts';
import type { StreamSeen } from '../history.ts';
import type { Clients } from './client-record.ts';

interface AnyEvent {
  eventId: string;
  eventType: string;
  data: { status: string } | { campaign: { status: string } };
}

type Open = (client: TrunklineClient, options: EventOptions) => AsyncIterable<AnyEvent>;

/** A stream that has not ended by then never will, in milliseconds: it is left, and the laws tell. */
const LONGEST_MS = 120_000;

/**
 * Follows a resource to its end, over whichever server is there, and keeps what was seen.
 * @param signal ends it before that
 */
export async function follow(
  { any, record }: Clients,
  kind: StreamSeen['kind'],
  id: string,
  open: Open,
  signal = AbortSignal.timeout(LONGEST_MS),
): Promise<void> {
  const stream: StreamSeen = { kind, resource: fromId(id), seen: [], told: [], ended: false };
  record.streams.push(stream);
  while (!stream.ended && !signal.aborted) {
    const lastEventId = stream.seen.at(-1);
    try {
      for await (const { eventId, eventType, data } of open(any(), {
        signal,
        ...(lastEventId !== undefined && { lastEventId: String(lastEventId) }),
      })) {
        stream.seen.push(Number(eventId));
        const { status } = 'campaign' in data ? data.campaign : data;
        stream.told.push({ revision: Number(eventId), type: eventType, status });
      }
      stream.ended = true;
    } catch (error) {
      if (error instanceof TrunklineError && error.status < 500) {
        record.wrongAnswers.push({ operation: `stream of ${kind}`, what: `${error.status} ${error.message}` });
        return;
      }
      await sleep(100);
    }
  }
}

/** Streams that are open beside what else is asked for. */
export interface Watching {
  /** Opens one. That of a campaign stays open until `close`: most of these wait for hours that are over. */
  follow(kind: StreamSeen['kind'], id: string, open: Open): void;
  /** Resolves once all but those of campaigns have ended. */
  ended(): Promise<unknown>;
  /** Closes what is open. */
  close(): Promise<unknown>;
}

export function watchStreams(clients: Clients): Watching {
  const closing = new AbortController();
  const following: Promise<void>[] = [];
  const staying: Promise<void>[] = [];
  return {
    follow: (kind, id, open) => {
      if (kind === 'campaign') staying.push(follow(clients, kind, id, open, closing.signal));
      else following.push(follow(clients, kind, id, open));
    },
    ended: () => Promise.all(following),
    close: () => {
      closing.abort();
      return Promise.all([...following, ...staying]);
    },
  };
}
