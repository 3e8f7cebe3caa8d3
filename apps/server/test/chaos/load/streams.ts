import { setTimeout as sleep } from 'node:timers/promises';
import { type EventOptions, type TrunklineClient, TrunklineError } from '@trunkline/client';
import { fromId } from '../../../src/foundation/values/ids.ts';
import type { StreamSeen } from '../history.ts';
import type { Clients } from './client-record.ts';

type Open = (client: TrunklineClient, options: EventOptions) => AsyncIterable<{ eventId: string }>;

/** A stream that has not ended by then never will, in milliseconds: it is left, and the laws tell. */
const LONGEST_MS = 120_000;

/** Follows a resource to its end, over whichever server is there, and keeps what was seen. */
export async function follow(
  { any, record }: Clients,
  kind: StreamSeen['kind'],
  id: string,
  open: Open,
  signal = AbortSignal.timeout(LONGEST_MS),
): Promise<void> {
  const stream: StreamSeen = { kind, resource: fromId(id), seen: [], ended: false };
  record.streams.push(stream);
  while (!stream.ended && !signal.aborted) {
    const lastEventId = stream.seen.at(-1);
    try {
      for await (const { eventId } of open(any(), {
        signal,
        ...(lastEventId !== undefined && { lastEventId: String(lastEventId) }),
      })) {
        stream.seen.push(Number(eventId));
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
