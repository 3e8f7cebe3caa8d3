import { mostInASecond, peak, recordedPeak } from '../../dialing/audit.ts';
import type { CallOfHistory, History, Window } from '../history.ts';
import { groupsOf, type Law } from './law.ts';

const over = (what: string, found: number, limit: number) =>
  found > limit ? [`${what}: ${found} at once, ${limit} are allowed`] : [];

const tooFast = (what: string, calls: CallOfHistory[], limit: number) => {
  const rate = mostInASecond(calls);
  return rate > limit ? [`${what}: ${rate} in a second, ${limit} are allowed`] : [];
};

/** No limit is ever passed, by our records or by the provider's. */
export const limitsKept: Law = {
  name: 'no limit is passed',
  breaches: ({ campaigns, calls, placed, invited, limits }) => {
    const placedByRoom = new Map(
      placed.map(({ roomId, placedAt, endedAt }) => [roomId, { from: placedAt, to: endedAt }]),
    );
    const atProvider = (some: CallOfHistory[]) => some.flatMap(({ id }) => placedByRoom.get(id) ?? []);
    const overTrunk = calls.filter(({ trunk_id }) => trunk_id);
    const ofCampaign = groupsOf(calls, ({ campaign_id }) => campaign_id);
    const channels = invited.map(({ at, endedAt = Number.POSITIVE_INFINITY }) => ({ from: at, to: endedAt }));
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
      ...over('the trunk, at the carrier', peak(channels), limits.trunkChannels),
      ...tooFast('the trunk', overTrunk, limits.trunkCallsPerSecond),
    ];
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
