import { SURE, type Verdict } from './judge-answerer.ts';

/** What becomes of a call that a machine has answered. */
export type VoicemailAction = 'continue' | 'hang_up' | 'leave_message';

/** A beep that is over. Times are in ms since the answer. */
export interface Beep {
  fromMs: number;
  untilMs: number;
  hz: number;
}

/** What is known at a moment. */
export interface Moment {
  /** In ms since the answer, as are all times. */
  now: number;
  verdict: Verdict;
  /** When the last beep began, whether or not it is over. */
  beepFrom: number | undefined;
  lastBeep: Beep | undefined;
  /** When the callee was last heard to speak. */
  spokeUntil: number | undefined;
}

/**
 * - `listening`: the agent talks, and nobody has sounded like a machine for sure.
 * - `waiting`: a machine speaks, and nothing is said to it.
 * - `leaving`: the message is being left.
 * - `over`: nothing more is to be done.
 */
export interface Voicemail {
  mode: 'listening' | 'waiting' | 'leaving' | 'over';
  /** Since when it is in that mode. */
  since: number;
  /** How often the message was begun. */
  begun: number;
}

export type VoicemailEffect = 'hush' | 'go_on' | 'begin' | 'stop' | 'hang_up';

export const noVoicemail: Voicemail = { mode: 'listening', since: 0, begun: 0 };

/** A beep is over after so long: two of them may be closer together. */
const AFTER_BEEP_MS = 200;
/** No beep lasts so long: what still sounds is none, and is not waited for. */
const MOST_BEEP_MS = 5000;
/** A greeting without a beep is over after so much silence. */
const SILENCE_MS = 2000;
/** A beep that comes so soon in the message was the one that it should have followed. */
const AGAIN_MS = 5000;
const MOST_BEGUN = 3;
/** A machine that neither beeps nor is silent for so long is given up. */
const MOST_WAIT_MS = 60_000;

/** What follows from a moment. @returns the same if nothing does */
export function voicemailAt(
  action: VoicemailAction,
  before: Voicemail,
  moment: Moment,
): { voicemail: Voicemail; effect?: VoicemailEffect } {
  const { now, verdict, beepFrom, lastBeep, spokeUntil } = moment;
  const isMachine = verdict.answeredBy === 'machine' && verdict.confidence >= SURE;
  const to = (mode: Voicemail['mode'], effect: VoicemailEffect, begun = before.begun) => ({
    voicemail: { mode, since: now, begun },
    effect,
  });
  switch (before.mode) {
    case 'listening':
      if (!isMachine || action === 'continue') return { voicemail: before };
      return action === 'hang_up' ? to('over', 'hang_up') : to('waiting', 'hush');
    case 'waiting': {
      if (verdict.answeredBy !== 'machine') return to('listening', 'go_on');
      const isTold = beepFrom !== undefined && (lastBeep === undefined || beepFrom > lastBeep.fromMs);
      const isBeeping = isTold && now - beepFrom < MOST_BEEP_MS;
      const quietSince = Math.max(spokeUntil ?? 0, lastBeep?.untilMs ?? 0);
      const quietMs = lastBeep && (spokeUntil ?? 0) <= lastBeep.untilMs + AFTER_BEEP_MS ? AFTER_BEEP_MS : SILENCE_MS;
      if (!isBeeping && now - quietSince >= quietMs) return to('leaving', 'begin', before.begun + 1);
      return now - before.since >= MOST_WAIT_MS ? to('over', 'hang_up') : { voicemail: before };
    }
    case 'leaving': {
      const isAnother = beepFrom !== undefined && beepFrom >= before.since && now - before.since < AGAIN_MS;
      return isAnother && before.begun < MOST_BEGUN ? to('waiting', 'stop') : { voicemail: before };
    }
    case 'over':
      return { voicemail: before };
  }
}
