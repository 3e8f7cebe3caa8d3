import { mostInASecond, peak, recordedPeak } from '../../dialing/audit.ts';
import type { CallOfHistory, History, Window } from '../history.ts';
import { groupsOf, type Law } from './law.ts';

const over = (what: string, found: number, limit: number) =>
  found > limit ? [`${what}: ${found} at once, ${limit} are allowed`] : [];

const tooFast = (what: string, calls: CallOfHistory[], limit: number) => {
  const rate = mostInASecond(calls);
  return rate > limit ? [`${what}: ${rate} in a second, ${limit} are allowed`] : [];
};

/** How long after packets were lost a BYE or a CANCEL of that time may come to the carrier at last (RFC 3261 section 17.1.2.2), in milliseconds. */
const SENT_AGAIN_MS = 5000;

/** When each call over the trunk was up for the carrier; one whose end was lost on the way, until we ended it. */
function channelsOf({ invited, calls, faults }: Pick<History, 'invited' | 'calls' | 'faults'>) {
  const endedByUs = new Map(calls.map(({ to_number, ended_at }) => [to_number, ended_at?.getTime()]));
  return invited.map(({ at, to, endedAt = Number.POSITIVE_INFINITY }) => {
    const wasLost = faults.some(
      (fault) =>
        fault.name === 'packets' && at < fault.to && endedAt > fault.from && endedAt < fault.to + SENT_AGAIN_MS,
    );
    const ours = wasLost ? (endedByUs.get(to) ?? endedAt) : endedAt;
    return { from: at, to: Math.max(at, Math.min(endedAt, ours)) };
  });
}

/** No limit is ever passed, by our records or by the provider's. */
export const limitsKept: Law = {
  name: 'no limit is passed',
  breaches: (history) => {
    const { campaigns, calls, placed, limits } = history;
    const placedByRoom = new Map(
      placed.map(({ roomId, placedAt, endedAt }) => [roomId, { from: placedAt, to: endedAt }]),
    );
    const atProvider = (some: CallOfHistory[]) => some.flatMap(({ id }) => placedByRoom.get(id) ?? []);
    const overTrunk = calls.filter(({ trunk_id }) => trunk_id);
    const ofCampaign = groupsOf(calls, ({ campaign_id }) => campaign_id);
    return [
      ...campaigns.flatMap(({ id, max_concurrency, calls_per_second }) => {
        const its = ofCampaign.get(id) ?? [];
        return [
          ...over(`campaign ${id}, as recorded`, recordedPeak(its), max_concurrency),
          ...over(`campaign ${id}, at the provider`, peak(atProvider(its)), max_concurrency),
          ...(calls_per_second === null ? [] : tooFast(`campaign ${id}`, its, Math.max(1, calls_per_second))),
        ];
      }),
      ...over('the workspace, as recorded', recordedPeak(calls), limits.workspaceCalls),
      ...over('the workspace, at the provider', peak(atProvider(calls)), limits.workspaceCalls),
      ...over('the trunk, as recorded', recordedPeak(overTrunk), limits.trunkChannels),
      ...over('the trunk, at the carrier', peak(channelsOf(history)), limits.trunkChannels),
      ...tooFast('the trunk', overTrunk, limits.trunkCallsPerSecond),
    ];
  },
};

/** Between two clocks of one machine, in milliseconds. */
const CLOCKS_APART_MS = 50;
/** How long a call that was let go may be on its way to its provider, in milliseconds: its hand-over, a provider that is slow. */
const ON_ITS_WAY_MS = 6000;

/**
 * From the answer to a pause or a stop on nobody's phone rings for it. A call that was let go just before may still be on its
 * way; one that was let go after it is found by its time, to the moment.
 */
export const silenceKept: Law = {
  name: 'nobody is called for what is paused or stopped',
  breaches: ({ silences, calls, placed, invited }) => {
    const atProvider = new Map(placed.map(({ roomId, placedAt }) => [roomId, placedAt]));
    const rang = new Map(invited.toReversed().map(({ to, at }) => [to, at]));
    const ofCampaign = groupsOf(calls, ({ campaign_id }) => campaign_id);
    return silences.flatMap(({ campaign, from, to }) =>
      (ofCampaign.get(campaign) ?? []).flatMap(({ id, to_number, trunk_id, dialed_at }) => {
        const rangAt = trunk_id ? rang.get(to_number) : atProvider.get(id);
        if (rangAt === undefined || dialed_at === null) return [];
        const isWithin = (at: number, slackMs: number) => at > from + slackMs && at < to;
        const late = isWithin(dialed_at.getTime(), CLOCKS_APART_MS) || isWithin(rangAt, ON_ITS_WAY_MS);
        const after = (at: number) => `${at - from} ms after its answer`;
        return late ? [`call ${id}, +${to_number}: let go ${after(dialed_at.getTime())}, rang ${after(rangAt)}`] : [];
      }),
    );
  },
};

/** Minutes since midnight, by the clock of a time zone. */
function minuteIn(timeZone: string, at: number): number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  const [hour = 0, minute = 0] = format.format(at).split(':').map(Number);
  return hour * 60 + minute;
}

/** Whether a window is open where somebody is. */
export function isOpen({ start, end }: Window, timeZone: string, at: number): boolean {
  const minute = minuteIn(timeZone, at);
  return start < end ? minute >= start && minute < end : minute >= start || minute < end;
}

/** Everyone's phone rings inside the hours, by the provider's clock, and nobody's who is not to be called. */
export const hoursKept: Law = {
  name: 'nobody is called outside of the hours, or against their wish',
  breaches: ({ promised, placed, calls }: History) => {
    const campaigns = new Map(promised.flatMap((each) => (each.kind === 'campaign' ? [[each.id, each] as const] : [])));
    const byRoom = new Map(calls.map((call) => [call.id, call]));
    return placed.flatMap(({ roomId, to, placedAt }) => {
      const campaign = campaigns.get(byRoom.get(roomId)?.campaign_id ?? '');
      if (!campaign) return [];
      const zone = campaign.zones.get(to);
      const when = `room ${roomId}, +${to}, ${new Date(placedAt).toISOString()}`;
      if (zone && !isOpen(campaign.windows, zone, placedAt)) return [`${when}: the hours are over in ${zone}`];
      return campaign.refused.includes(to) ? [`${when}: is on the do-not-call list`] : [];
    });
  },
};
