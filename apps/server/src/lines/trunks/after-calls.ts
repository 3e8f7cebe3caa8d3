import type { CallOutcome, MediaReport, SipAnswer } from '../telephony/call-outcome.ts';
import { isCapacity } from '../telephony/outcomes.ts';
import type { BrakeReason } from './trunk.ts';

/** How calls over a trunk have fared lately. */
export interface TrunkHealth {
  /** The last calls in a row whose numbers it did not know or declined, by their UUIDs. */
  unknownCalls: readonly string[];
  /** The last answered calls in a row that brought no packet. */
  silentCalls: readonly string[];
  /** Answers that it had no room for, less the calls that it has carried since. */
  fullAnswers: number;
  /** INVITEs in a row that got no answer at all. */
  unansweredInvites: number;
  slowedSince: Date | null;
  slowedUntil: Date | null;
}

/** The end of a call that was placed over a trunk. */
export interface TrunkEnd extends SipAnswer, Pick<MediaReport, 'packetsReceived'> {
  /** UUID. */
  roomId: string;
  outcome: CallOutcome;
}

/** Why a call that has ended is not held against its contact. */
export type SetAside = 'trunk_busy' | 'trunk_paused';

/** What the ends of some calls come to. */
export interface TrunkNext {
  health: TrunkHealth;
  /** Why calls are to stop, and the call that did it. */
  pause?: { reason: BrakeReason; end: TrunkEnd };
  /** The calls that are not held against their contacts, by their UUIDs: of these ends, and of those before. */
  setAside: Map<string, SetAside>;
}

/** So many numbers in a row that are unknown are not the numbers' fault, and so many silent calls not the callees'. */
const UNKNOWN_TO_PAUSE = 10;
const SILENT_TO_PAUSE = 3;
/** So many INVITEs in a row without any answer: more would leave people of whom nobody knows whether they were reached. */
const UNANSWERED_TO_PAUSE = 3;
const LONGEST_SLOW_MS = 60_000;
/** The most that a trunk is waited for because its Retry-After says so. */
const LONGEST_ASKED_MS = 300_000;

/** Outcomes that say nothing of the trunk. */
const silent = new Set<CallOutcome>(['cancelled', 'unknown', 'do_not_call']);

/** Whether a call found no room. The cause of a BYE says nothing of that: its callee had answered. */
const isFull = (end: TrunkEnd): boolean => end.outcome === 'trunk_error' && isCapacity(end);

/**
 * What the ends of some calls, in their order, make of a trunk. An answer that it has no room puts the next start off, for a
 * second and twice as long each time, up to a minute, or for as long as its Retry-After asks, up to five; each call that it carries takes one of these back. Answers to calls
 * that were up when it was slowed count once. Another 403 pauses it, as do ten numbers in a row that it answers with
 * 404, 484 or 603, three answered calls in a row without a packet, and three INVITEs in a row without any answer; what ends
 * alike after that is set aside too, but for INVITEs: whoever they were for may have been reached.
 * @param pausedFor why it is paused already, if it is
 */
export function afterCalls(
  before: TrunkHealth,
  ends: readonly TrunkEnd[],
  pausedFor: string | null,
  now: Date,
): TrunkNext {
  let { unknownCalls, silentCalls, fullAnswers, unansweredInvites, slowedSince, slowedUntil } = before;
  let pause: TrunkNext['pause'];
  const setAside: TrunkNext['setAside'] = new Map();
  const brake = (reason: BrakeReason, end: TrunkEnd, calls: readonly string[]) => {
    if (pausedFor !== reason) pause ??= { reason, end };
    for (const roomId of calls) setAside.set(roomId, 'trunk_paused');
  };
  const isPausedFor = (reason: BrakeReason) => pausedFor === reason || pause?.reason === reason;

  for (const end of ends) {
    const { roomId, outcome, sipStatus, packetsReceived } = end;
    if (end.wasSilent) {
      unansweredInvites += 1;
      if (unansweredInvites >= UNANSWERED_TO_PAUSE) brake('silent', end, []);
      continue;
    }
    if (sipStatus !== undefined) unansweredInvites = 0;
    if (silent.has(outcome)) continue;
    if (isFull(end)) {
      setAside.set(roomId, 'trunk_busy');
      if (slowedUntil && slowedUntil > now) continue;
      fullAnswers = Math.min(fullAnswers + 1, 1000);
      slowedSince ??= now;
      const asked = Math.min(LONGEST_ASKED_MS, 1000 * (end.retryAfterSeconds ?? 0));
      slowedUntil = new Date(now.getTime() + Math.max(asked, Math.min(LONGEST_SLOW_MS, 1000 * 2 ** (fullAnswers - 1))));
      continue;
    }
    if (sipStatus === 403 && outcome === 'trunk_error') {
      brake('forbidden', end, [roomId]);
      continue;
    }
    if (outcome === 'trunk_error' || outcome === 'agent_error') continue;
    fullAnswers = Math.max(0, fullAnswers - 1);
    if (fullAnswers === 0 && slowedUntil && slowedUntil <= now) [slowedSince, slowedUntil] = [null, null];
    const isUnknown = sipStatus === 404 || sipStatus === 484 || sipStatus === 603;
    unknownCalls = isUnknown ? [...unknownCalls, roomId] : [];
    if (isUnknown && (unknownCalls.length >= UNKNOWN_TO_PAUSE || isPausedFor('number_format'))) {
      brake('number_format', end, unknownCalls);
      unknownCalls = [];
    }
    if (packetsReceived === undefined || (outcome !== 'answered' && outcome !== 'voicemail')) continue;
    silentCalls = packetsReceived === 0 ? [...silentCalls, roomId] : [];
    if (packetsReceived === 0 && (silentCalls.length >= SILENT_TO_PAUSE || isPausedFor('no_media'))) {
      brake('no_media', end, silentCalls);
      silentCalls = [];
    }
  }
  if (pause?.reason === 'silent') unansweredInvites = 0;
  const health = { unknownCalls, silentCalls, fullAnswers, unansweredInvites, slowedSince, slowedUntil };
  return { health, ...(pause && { pause }), setAside };
}

/** Whether an end is news for a trunk of which nothing is held. */
export const isNews = (end: TrunkEnd): boolean =>
  end.packetsReceived === 0 ||
  end.wasSilent === true ||
  isFull(end) ||
  [403, 404, 484, 603].includes(end.sipStatus ?? 0);
