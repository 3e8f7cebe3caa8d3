import type { Sound, VoiceEnd } from './sound.ts';

/** Who speaks in a conversation, such as an agent over its stream. It tells the conversation what happens, and decides nothing. */
export interface Voice {
  /** The agent, of whom the record tells; a test sound is none. */
  readonly agentId: string | undefined;
  /** Whether what was heard is told with the call's end, as that of a test. */
  readonly isTest?: true;
  /** When it joins a call that we place. One that arrives is answered once it is there. */
  readonly joinsAt: 'ringing' | 'answered';
  /** @returns nothing once it is there, or why it isn't */
  join(sound: Sound): Promise<VoiceEnd | undefined>;
}
