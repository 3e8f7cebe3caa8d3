import type { components } from '@trunkline/client';
import { type Known, several } from './words.ts';

type Outcome = Known<components['schemas']['RedialOutcome']>;

const HOW = {
  no_answer: true,
  busy: true,
  voicemail: true,
  declined: true,
  invalid_number: true,
  trunk_error: true,
  agent_error: true,
  cancelled: true,
  unknown: true,
} satisfies Record<Outcome, true>;

/** How calls ended whose people may be called again, in the order in which they are offered. */
export const REDIALLED = Object.keys(HOW) as Outcome[];

const ACTIVE = ['running', 'paused'];
const ENDED = ['completed', 'stopped'];

export const canRedial = (status: string) => ACTIVE.includes(status) || ENDED.includes(status);

/** What a redial of so many people does: an active campaign calls them, of an ended one there will be a draft. */
export function redialSays(status: string, count: number): { says: string; does: string; isDraft: boolean } {
  const people = several(count, 'person', 'people');
  if (ENDED.includes(status))
    return {
      says: `This campaign has ended. A new draft with the same settings will have ${people}; it calls nobody until it is started.`,
      does: `Make a draft of ${people}`,
      isDraft: true,
    };
  const when = status === 'paused' ? 'once the campaign is resumed' : 'from now on';
  return {
    says: `${people} will wait again, each for one more call, ${when}. Hours, budget and the caps per person hold.`,
    does: `Call ${people} again`,
    isDraft: false,
  };
}
