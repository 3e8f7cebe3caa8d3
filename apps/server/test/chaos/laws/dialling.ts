import { peak } from '../../dialing/audit.ts';
import type { Arrived, CallOfHistory, History, Invited } from '../history.ts';
import { groupsOf, type Law } from './law.ts';

/** Between the clock that a call was committed by and the provider's, in milliseconds. */
const CLOCKS_APART_MS = 1000;
/** Outcomes that a retry policy is charged with. */
const charged: readonly (string | null)[] = [
  'answered',
  'voicemail',
  'busy',
  'no_answer',
  'declined',
  'invalid_number',
];

const ownerOf = (call: CallOfHistory) => call.owner_id;
/** A call that was taken back: no provider was told of it. */
const wasTakenBack = ({ status, ended_by }: CallOfHistory) => status === 'cancelled' && ended_by === 'error';

/** Nobody is dialled twice for one attempt, by the provider's own record. */
export const dialledOnce: Law = {
  name: 'nobody is dialled twice for one attempt',
  breaches: ({ placed, invited, calls }) => {
    const dialled = groupsOf(
      calls.filter((call) => call.dialed_at !== null && !wasTakenBack(call)),
      ({ to_number }) => to_number,
    );
    const twice = placed.filter(({ placements }) => placements > 1);
    const rang = groupsOf(invited, ({ to }) => to);
    return [
      ...twice.map(({ roomId, to, placements }) => `room ${roomId}, +${to}: placed ${placements} times`),
      ...[...rang].flatMap(([to, invites]) => {
        const names = new Set(invites.map(({ callId }) => callId));
        const attempts = dialled.get(to)?.length ?? 0;
        return names.size > attempts ? [`+${to} rang ${names.size} times over SIP, for ${attempts} calls`] : [];
      }),
    ];
  },
};

/** No telephone has two calls of ours at a time, whoever asked for them. */
export const oneAtATime: Law = {
  name: 'nobody is on two calls at once',
  breaches: ({ placed, invited }) => {
    const stretches = [
      ...placed.map(({ to, placedAt, endedAt }) => ({ who: to, from: placedAt, to: endedAt })),
      ...invited.map(({ to, at, endedAt = Number.POSITIVE_INFINITY }) => ({ who: to, from: at, to: endedAt })),
    ];
    return [...groupsOf(stretches, ({ who }) => who)].flatMap(([who, its]) => {
      const most = peak(its);
      return most > 1 ? [`+${who}: ${most} calls at once`] : [];
    });
  },
};

/** The provider hears of a call only after its commit. */
export const committedFirst: Law = {
  name: 'nothing is placed before it is committed',
  breaches: ({ placed, invited, calls }) => {
    const byRoom = new Map(calls.map((call) => [call.id, call]));
    const known = new Set(calls.map(({ to_number }) => to_number));
    return [
      ...placed.flatMap(({ roomId, to, placedAt }) => {
        const call = byRoom.get(roomId);
        if (!call) return [`room ${roomId}, +${to}: placed, and there is no such call`];
        if (call.to_number !== to) return [`room ${roomId}: +${to} was placed, +${call.to_number} is on record`];
        if (call.status === 'queued' || wasTakenBack(call)) return [`room ${roomId}: placed, but ${call.status}`];
        const early = (call.dialed_at?.getTime() ?? Number.POSITIVE_INFINITY) - placedAt;
        return early > CLOCKS_APART_MS ? [`room ${roomId}: placed ${early} ms before its commit`] : [];
      }),
      ...invited
        .filter(({ to }) => !known.has(to))
        .map(({ to, callId }) => `+${to} rang over SIP (${callId}), no call`),
    ];
  },
};

/** Whoever may have been reached is not called again. */
export const unknownNotRedialled: Law = {
  name: 'no call whose outcome is unknown is dialled again',
  breaches: ({ calls }) =>
    [...groupsOf(calls, ownerOf)].flatMap(([owner, attempts]) => {
      const unknown = attempts.find(({ outcome }) => outcome === 'unknown');
      const later = unknown && attempts.find(({ attempt }) => attempt > unknown.attempt);
      return later ? [`${owner}: attempt ${unknown.attempt} is unknown, and ${later.attempt} was made`] : [];
    }),
};

/** Nobody is tried more often than the retry policy says. */
export const triesKept: Law = {
  name: 'nobody is tried more often than the retry policy allows',
  breaches: ({ calls, campaigns, placed, invited }) => {
    const allowed = new Map(campaigns.map(({ id, retry_policy }) => [id, 1 + retry_policy.length]));
    const rooms = new Set(placed.map(({ roomId }) => roomId));
    const rang = new Set(invited.map(({ to }) => to));
    const reached = calls.filter(
      ({ id, outcome, to_number }) => charged.includes(outcome) && (rooms.has(id) || rang.has(to_number)),
    );
    return [...groupsOf(reached, ownerOf)].flatMap(([owner, tries]) => {
      const most = allowed.get(tries[0]!.campaign_id ?? '') ?? 1;
      return tries.length > most ? [`${owner}: dialled ${tries.length} times, ${most} are allowed`] : [];
    });
  },
};

/** What may end the calls that are up over SIP: of one server, which has ended, was given up or has lost a thread, or of all, whose packets were lost. */
const endsCalls: readonly string[] = ['kill', 'stop', 'drain', 'version', 'thread', 'packets'];
/** How long after such a fault its calls may still be ended, in milliseconds. */
const AFTERMATH_MS = 60_000;

/** A call that is up goes on, whatever becomes of the database; only a person, its agent or its longest time ends it. */
export const nobodyCutOff: Law = {
  name: 'nobody is cut off',
  breaches: (history) => {
    const { placed, invited, arrived, calls } = history;
    const byRoom = new Map(calls.map((call) => [call.id, call]));
    const asked = new Set(calls.filter(({ end_requested_at }) => end_requested_at).map(({ to_number }) => to_number));
    return [
      ...placed
        .filter(({ roomId, endedBy }) => endedBy === 'service' && !byRoom.get(roomId)?.end_requested_at)
        .map(({ roomId, to }) => `room ${roomId}, +${to}: hung up by us, and nobody had asked for it`),
      ...invited
        .filter((call) => call.endedBy === 'remote' && !asked.has(call.to) && !isExcused(call, history))
        .map((call) => `+${call.to}, SIP, ${talkOf(call)}`),
      ...arrived
        .filter((call) => call.endedBy === 'remote' && !isExcused(call, history))
        .map((call) => `+${call.from}, who called us, ${talkOf(call)}`),
    ];
  },
};

const talkOf = ({ at, answeredAt, endedAt }: Invited | Arrived): string =>
  `${new Date(at).toISOString()}: answered after ${answeredAt! - at} ms, cut off ${endedAt! - answeredAt!} ms later`;

/** Whether a call that was up may have ended by something that was done to its own server, or to the packets of all. */
export function isExcused(call: Invited | Arrived, { faults, limits }: History): boolean {
  const { at, answeredAt = 0, endedAt = 0 } = call;
  if (endedAt - answeredAt > limits.maxCallMs - CLOCKS_APART_MS) return true;
  return faults.some(({ name, server, from, to }) => {
    const ends = endsCalls.includes(name) && (server === undefined || server === call.server);
    return ends && at < to && endedAt > from && endedAt < to + AFTERMATH_MS;
  });
}
