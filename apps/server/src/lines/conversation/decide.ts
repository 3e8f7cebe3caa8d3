import type { CallMediaStats } from '../media/media.ts';
import type { CallTimes } from '../telephony/call-gateway.ts';
import type { Ending, LegEnd, LegInput, Unready } from './leg.ts';
import type { OwnEnd } from './meaning-of-end.ts';
import { type Mode, type Modes, modes, moved } from './modes.ts';
import type { SoundInput, VoiceEnd } from './sound.ts';

/** What happens to a conversation. */
export type Input =
  | LegInput
  | SoundInput
  | { type: 'prepared' }
  | { type: 'unready'; unready: Unready }
  /** Whether sound can flow after the answer; it fails for the far side's sake (`trunk_error`), or for ours. */
  | { type: 'sound_agreed' }
  | { type: 'sound_failed'; outcome?: 'trunk_error'; error?: unknown }
  | { type: 'voice_joined' }
  | { type: 'voice_refused'; end: VoiceEnd }
  /** By whoever uses this server, or since it stops. */
  | { type: 'end_asked' }
  | { type: 'time_limit' }
  /** Its sound is closed. */
  | { type: 'closed'; stats: CallMediaStats | undefined };

/** What a conversation does next. */
export type Effect =
  | 'connect_leg'
  | 'end_leg'
  | 'accept'
  | 'accept_soon'
  | 'tell_ringing'
  | 'tell_answered'
  | 'tell_heard'
  | 'begin_sound'
  | 'join_voice'
  | 'pass_digit'
  | 'close_sound'
  | 'tell_end'
  | 'refuse';

/** What is the same all through a conversation, as far as it decides anything. */
export interface Setting {
  far: 'callee' | 'caller';
  joinsAt: 'ringing' | 'answered';
}

/** Where a conversation stands: its mode decides what is done, and the rest tells it afterwards. */
export interface Standing {
  mode: Mode;
  times: CallTimes;
  /** Why we have ended it ourselves, and how its leg is ended for that. */
  own?: OwnEnd;
  ending?: Ending;
  unready?: Unready;
  legEnd?: LegEnd;
  endedAt?: Date;
  /** Whether its voice was asked to join. */
  isVoiceAsked?: boolean;
  voiceEnd?: VoiceEnd;
  stats?: CallMediaStats | undefined;
}

/** What an input comes to in a mode. */
interface Change extends Partial<Omit<Standing, 'mode' | 'times'>> {
  to?: Mode;
  does?: Effect[];
}
type Of<Type extends Input['type']> = Extract<Input, { type: Type }>;
type Rules = { [Type in Input['type']]?: (input: Of<Type>, setting: Setting) => Change };

const ends = (own: OwnEnd, more: Partial<Change> = {}): Change => ({ to: 'ending', does: ['end_leg'], own, ...more });
const cancelled: LegEnd = { kind: 'not_sent', why: 'cancelled', text: 'The call was ended before it was dialled.' };

/** Nobody is there to talk to the far side. */
const noAgent: OwnEnd = { endedBy: 'error', outcome: 'agent_error' };
/** The far side can't be taken, for want of room or of a common codec. */
const noWay: OwnEnd = { endedBy: 'error', outcome: 'trunk_error' };
const endingFor: Record<Unready['why'], Ending> = {
  no_room: 'no_room',
  unusable: 'unusable',
  not_ours: 'hang_up',
  no_voice: 'hang_up',
  fault: 'fault',
};
const withoutVoice = ({ end }: { end: VoiceEnd }): Change => ends(noAgent, { voiceEnd: end });
/** Who ends a call whose voice ends. If both sides fell silent, or a machine was handled, it is nobody's fault. */
function endedByVoice({ reason }: VoiceEnd): OwnEnd['endedBy'] {
  if (reason === 'hung_up') return 'agent';
  return reason === 'silence' || reason === 'call_ended' ? 'service' : 'error';
}
const answers = (to: Mode): Change => ({ to, does: ['accept', 'tell_answered', 'begin_sound'] });

const whileUp = {
  end_asked: () => ends({ endedBy: 'service' }),
  leg_ended: ({ end }) => ({ to: 'closing', does: ['accept', 'close_sound'], legEnd: end }),
} satisfies Rules;
const beforeAnswer = {
  ...whileUp,
  media_lost: () => ends(noAgent, { voiceEnd: { reason: 'media_lost' } }),
} satisfies Rules;
const afterAnswer = {
  ...whileUp,
  digit: () => ({ does: ['pass_digit'] }),
  media_lost: () => ends({ endedBy: 'error' }, { voiceEnd: { reason: 'media_lost' } }),
  time_limit: () => ends({ endedBy: 'time_limit' }),
  sound_failed: ({ outcome }) =>
    ends({ endedBy: 'error', ...(outcome && { outcome }) }, outcome ? {} : { voiceEnd: { reason: 'media_lost' } }),
} satisfies Rules;
const voiceFails = { voice_refused: withoutVoice, voice_ended: withoutVoice } satisfies Rules;
const whileHeard = {
  ...afterAnswer,
  voice_heard: () => ({ does: ['tell_heard'] }),
  silent: () => ends({ endedBy: 'error' }),
} satisfies Rules;
const rings = { does: ['accept', 'tell_ringing'] } satisfies Change;

/** What follows from each input in each mode. What is not here changes nothing: it comes too late, or again. */
const rules: Record<Mode, Rules> = {
  opening: {
    prepared: () => ({ to: 'placing', does: ['connect_leg'] }),
    unready: ({ unready }) => ({ to: 'discarding', does: ['close_sound'], unready }),
    end_asked: () => ({ to: 'withdrawn', own: { endedBy: 'service' } }),
  },
  withdrawn: {
    prepared: () => ({ to: 'closing', does: ['accept', 'close_sound'], legEnd: cancelled }),
    unready: () => ({ to: 'discarding', does: ['close_sound'], legEnd: cancelled }),
  },
  placing: {
    ...beforeAnswer,
    kept: () => ({ to: 'dialing', does: ['accept_soon'] }),
    leg_ended: (input) => {
      const isTold = input.end.kind !== 'not_sent' || input.end.why === 'cancelled';
      return isTold ? whileUp.leg_ended(input) : { to: 'discarding', does: ['close_sound'], legEnd: input.end };
    },
  },
  dialing: {
    ...beforeAnswer,
    progress: (input, { joinsAt }) => {
      if (!input.rings) return { does: ['accept'] };
      return joinsAt === 'ringing'
        ? { to: 'joining_early', does: [...rings.does, 'join_voice'] }
        : { to: 'ringing', ...rings };
    },
    answered: () => answers('answered'),
  },
  ringing: { ...beforeAnswer, answered: () => answers('answered') },
  joining_early: {
    ...beforeAnswer,
    ...voiceFails,
    voice_joined: () => ({ to: 'joined_early' }),
    answered: () => answers('joining'),
  },
  joined_early: { ...beforeAnswer, voice_ended: withoutVoice, answered: () => answers('talking') },
  arriving: {
    ...beforeAnswer,
    prepared: () => ({ to: 'admitting', does: ['accept', 'join_voice'] }),
    unready: ({ unready }) => ({
      to: 'ending',
      does: unready.why === 'fault' ? ['refuse', 'end_leg'] : ['end_leg'],
      own: unready.why === 'no_room' || unready.why === 'unusable' ? noWay : noAgent,
      ending: endingFor[unready.why],
      unready,
    }),
  },
  admitting: {
    ...beforeAnswer,
    ...voiceFails,
    voice_joined: () => ({ to: 'answering', does: ['connect_leg'] }),
  },
  answering: {
    ...beforeAnswer,
    voice_ended: withoutVoice,
    given_up: () => ends(noWay, { ending: 'no_room' }),
    answered: () => answers('talking'),
  },
  answered: { ...afterAnswer, sound_agreed: () => ({ to: 'joining', does: ['join_voice'] }) },
  joining: { ...whileHeard, ...voiceFails, voice_joined: () => ({ to: 'talking' }) },
  talking: {
    ...whileHeard,
    voice_ended: ({ end }) => ends({ endedBy: endedByVoice(end) }, { voiceEnd: end }),
  },
  ending: {
    leg_ended: whileUp.leg_ended,
    // A caller's word that it has our answer crosses the end.
    answered: () => ({ does: ['tell_answered'] }),
  },
  closing: { closed: ({ stats }) => ({ to: 'over', does: ['tell_end'], stats }) },
  discarding: { closed: () => ({ to: 'discarded', does: ['refuse'] }) },
  over: {},
  discarded: {},
};

/** @returns where a conversation stands after an input, and what it does */
export function decide(
  standing: Standing,
  input: Input,
  { setting, at, table = modes }: { setting: Setting; at: Date; table?: Modes },
): { standing: Standing; effects: readonly Effect[] } {
  const rule = rules[standing.mode][input.type] as ((input: Input, setting: Setting) => Change) | undefined;
  if (!rule) return { standing, effects: [] };
  const { to, does = [], ...learned } = rule(input, setting);
  const times = {
    ...standing.times,
    ...(does.includes('tell_ringing') && { ringingAt: at }),
    ...(does.includes('tell_answered') && { answeredAt: at }),
  };
  const mode = to === undefined ? standing.mode : moved(table, standing.mode, to);
  const noted = {
    ...(to === 'closing' && { endedAt: at }),
    ...(does.includes('join_voice') && { isVoiceAsked: true }),
  };
  return { standing: { ...standing, ...noted, ...learned, times, mode }, effects: does };
}
