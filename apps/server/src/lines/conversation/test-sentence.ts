import { testCallSound } from '../media/test-sound.ts';
import type { Voice } from './voice.ts';

/** The voice of a test call: it says a sentence, and then what it hears. */
export const testSentence: Voice = {
  agentId: undefined,
  isTest: true,
  joinsAt: 'answered',
  join: async (sound) => {
    await sound.speak('sound', { path: testCallSound });
    return undefined;
  },
};
