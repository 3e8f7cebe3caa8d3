import type { components } from '@trunkline/client';
import { outcomeWords, plain, reasonSays, reasonWords, several } from './words.ts';

type Schemas = components['schemas'];
export type Person = Schemas['Person'];
export type PersonCampaign = Schemas['PersonCampaign'];

/** Whether a campaign may call a person now, in words. */
export interface Verdict {
  says: string;
  /** What can be done about it. */
  todo?: string | undefined;
  /** When it may, if it may not now. */
  at?: string | undefined;
  isNow: boolean;
}

/** Reasons that no time takes away. */
const FOR_GOOD = ['do_not_call', 'no_consent', 'country_not_allowed'];

export function verdictOf({ status, contact, callableNow, reason, nextAttemptAt: at }: PersonCampaign): Verdict {
  const { state, lastOutcome } = contact;
  if (callableNow) return { says: 'It may call now.', isNow: true };
  if (state === 'dialing') return { says: 'It is calling now.', isNow: true };
  const isOver = state === 'done' || state === 'skipped';
  if (reason) {
    const is = isOver || FOR_GOOD.includes(reason) ? 'No' : 'Not now';
    return {
      says: `${is}: ${reasonSays(reason)}.`,
      todo: isOver ? undefined : reasonWords[reason]?.todo,
      at,
      isNow: false,
    };
  }
  if (isOver) {
    const ended = lastOutcome ? ` ${outcomeWords[lastOutcome] ?? plain(lastOutcome)}.` : '';
    return { says: `No: it is done with this person.${ended}`, isNow: false };
  }
  return { says: `Not now: it is ${plain(status)}.`, at, isNow: false };
}

/** Whether anything may call a person now, and from when on if not. */
export function summaryOf({ isDoNotCall, campaigns }: Person): Verdict {
  if (isDoNotCall) return { says: 'Nothing calls this number: it is on the do-not-call list.', isNow: false };
  if (!campaigns) return { says: 'Whether it may be called can’t be shown to you.', isNow: false };
  if (campaigns.length === 0) return { says: 'No campaign has this number.', isNow: false };
  if (campaigns.some(({ contact }) => contact.state === 'dialing')) return { says: 'It is being called.', isNow: true };
  const open = campaigns.filter((each) => each.callableNow).length;
  if (open > 0) return { says: `${several(open, 'campaign')} may call now.`, isNow: true };
  const [at] = campaigns.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []).sort();
  return { says: at ? 'No campaign may call now.' : 'No campaign is going to call.', at, isNow: false };
}

/** What a list says of somebody's consent. */
export function consentSays({ consent }: Schemas['ContactListEntry']): string | undefined {
  if (!consent) return undefined;
  const { given, source, time, purpose } = consent;
  const more = [source, time, purpose && `for ${purpose}`].filter(Boolean).join(', ');
  return `${given ? 'has agreed' : 'has not agreed'}${more && ` (${more})`}`;
}
