import type { StreamEnd } from '../media/agent-end.ts';
import type { Sound } from './sound.ts';

/** How a voice ended, or why it never came. */
export interface VoiceEnd extends Omit<StreamEnd, 'reason'> {
  reason: StreamEnd['reason'] | 'media_lost';
}

/** Who speaks in a conversation, such as an agent over its stream. It tells the conversation what happens, and decides nothing. */
export interface Voice {
  /** An agent, of whom the record tells; a test sound is none. */
  readonly isAgent: boolean;
  /** When it joins a call that we place. One that arrives is answered once it is there. */
  readonly joinsAt: 'ringing' | 'answered';
  /** @returns nothing once it is there, or why it isn't */
  join(sound: Sound): Promise<VoiceEnd | undefined>;
}

/** What voices and sound tell, besides what `join` answers. */
export type SoundInput =
  | { type: 'voice_ended'; end: VoiceEnd }
  /** Nothing was heard of an answered far side for long. */
  | { type: 'silent' }
  /** The thread that carried the sound has died. */
  | { type: 'media_lost' };
