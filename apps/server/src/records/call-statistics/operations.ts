import { readTimeZone, timeZoneHint } from '../../audience/contact-lists/reading/time-zone.ts';
import type { CallDetails } from '../../dialing/calls/store.ts';
import type { Database } from '../../foundation/database/database.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { refuse } from '../../foundation/values/service-error.ts';
import { readFigures } from './read-figures.ts';
import { timeBuckets } from './time-buckets.ts';
import { turns } from './turns.ts';

const DAY_MS = 24 * 3600 * 1000;
const USUAL_DAYS = 7;
const MOST_DAYS = 92;
const MOST_DAYS_OF_HOURS = 31;
/** The local day that it lies in begins in year 1, the first that can be written, wherever that is. */
const EARLIEST = new Date('0001-01-02T00:00:00Z');
/** A month of a clock change is longer, and so is one up to now, by as long as the request takes. */
const CLOCK_CHANGE_MS = 2 * 3600 * 1000;
/** Few are counted at a time, so that other requests find connections; one place is kept for workspaces of few calls. */
const LIMITS = { atOnce: 3, mostSlow: 2, slowMs: 2000, mostWaiting: 2, waitMs: 5000 };

const uuid = (id: string | undefined) => (id === undefined ? undefined : fromId(id));

/** The operation that counts calls over time. */
export function callStatsOperations(deps: { database: Database; clock: Clock; isBatch: CallDetails['isBatch'] }) {
  const { database, clock, isBatch } = deps;
  const inTurn = turns(LIMITS);
  return {
    getCallStats: async ({ query }, { workspaceId, signal }) => {
      const { groupBy = 'day' } = query;
      const { from, to, timezone } = timeOf(query, groupBy, clock.now());
      const byTime = groupBy === 'day' || groupBy === 'hour';
      const wanted = {
        from,
        to,
        groupBy,
        bounds: byTime ? timeBuckets(from, to, groupBy, timezone) : [],
        direction: query.direction,
        agentId: query.agentId,
        phoneNumberId: uuid(query.phoneNumberId),
        campaignId: uuid(query.campaignId),
        batchId: uuid(query.batchId),
      };
      const figures = await inTurn(workspaceId, signal, () =>
        database.inSnapshot(workspaceId, (tx) => readFigures(tx, wanted, isBatch)),
      );
      const times = { from: from.toISOString(), to: to.toISOString(), timezone };
      return { status: 200, body: { ...times, groupBy, ...figures } };
    },
  } satisfies Partial<Handlers>;
}

const zoneHint = (text: string): string => timeZoneHint(text)?.replace(/^/, '. ') ?? '';

/** The time that is meant. Throws `invalid_request` where it can't be, or is too long. */
function timeOf(query: { from?: string; to?: string; timezone?: string }, groupBy: string, now: Date) {
  const to = query.to === undefined ? now : new Date(query.to);
  const from = query.from === undefined ? new Date(to.getTime() - USUAL_DAYS * DAY_MS) : new Date(query.from);
  const timezone = readTimeZone(query.timezone ?? 'UTC');
  const most = groupBy === 'hour' ? MOST_DAYS_OF_HOURS : MOST_DAYS;
  const tooLong = to.getTime() - from.getTime() > most * DAY_MS + CLOCK_CHANGE_MS;
  refuse([
    ...(from < EARLIEST ? [{ path: '/query/from', message: `must not be before ${EARLIEST.toISOString()}` }] : []),
    ...(from >= to ? [{ path: '/query/from', message: 'must be before to' }] : []),
    ...(tooLong ? [{ path: '/query/from', message: `must be at most ${most} days before to, by ${groupBy}` }] : []),
    ...(timezone === undefined
      ? [
          {
            path: '/query/timezone',
            message: `must be an IANA time zone such as America/New_York${zoneHint(query.timezone!)}`,
          },
        ]
      : []),
  ]);
  return { from, to, timezone: timezone! };
}
