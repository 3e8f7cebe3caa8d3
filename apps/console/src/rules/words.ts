import type { components } from '@trunkline/client';

type Schemas = components['schemas'];

/** The words of the contract that are known now; a server may be newer and have more. */
export type Known<Word> = Word extends string ? (string extends Word ? never : Word) : never;

/** What something is, and what can be done. */
interface Reason {
  says: string;
  todo: string;
}

/** Why somebody is not called, by a campaign or at all. */
const REASONS = {
  outside_window: { says: 'outside the campaign’s hours', todo: 'Wait, or change the hours.' },
  quiet_hours: { says: 'in the quiet hours', todo: 'Wait, or change the workspace’s quiet hours.' },
  holiday: { says: 'on a holiday', todo: 'Wait, or change the holidays.' },
  do_not_call: { says: 'on a do-not-call list', todo: 'Nothing: this person does not want to be called.' },
  retry_later: { says: 'tried before, due again later', todo: 'Wait for the next attempt.' },
  limit_reached: {
    says: 'a limit is reached',
    todo: 'Wait, or raise a limit: of the campaign, the workspace, the agent or the person.',
  },
  no_caller_id: {
    says: 'no number to call from',
    todo: 'Look at the number or the pool: is it active, does its trunk pass?',
  },
  country_not_allowed: {
    says: 'the country is not allowed',
    todo: 'Allow the country in the workspace or the number, or leave it.',
  },
  campaign_paused: { says: 'the campaign is paused', todo: 'Resume the campaign.' },
  campaign_stopped: { says: 'the campaign was stopped', todo: 'Nothing: it is over.' },
  campaign_ended: { says: 'the campaign has ended', todo: 'Nothing: it is over.' },
  target_reached: { says: 'the target was reached', todo: 'Nothing: it is over.' },
  dialing_paused: { says: 'all dialing is stopped', todo: 'Let dialing go on, by the bar above.' },
  already_on_a_call: { says: 'on another call now', todo: 'Wait: something else is calling this person.' },
  retries_exhausted: { says: 'all attempts were made', todo: 'Nothing: all attempts were made.' },
  invalid_number: { says: 'the number is invalid', todo: 'Mend the number in the list.' },
  outcome_unknown: { says: 'nobody knows whether it rang', todo: 'Ask the carrier, or call by hand.' },
  no_common_hour: {
    says: 'no hour that fits all time zones',
    todo: 'Give the contact a time zone, or widen the hours.',
  },
  trunk_busy: { says: 'the trunk has no free line', todo: 'Wait, or look at the trunk.' },
  trunk_paused: { says: 'the trunk is paused', todo: 'Look at the trunk: it says why.' },
  witness_unreachable: { says: 'the witness can’t be written', todo: 'Ask whoever runs the server.' },
  operator_limit: { says: 'a limit of the operator', todo: 'Ask whoever runs the server.' },
  invalid_time_zone: {
    says: 'the time zone can’t be read',
    todo: 'Give the contact a time zone such as Europe/Berlin in a new list.',
  },
  invalid_contact: { says: 'what is kept of it can’t be used', todo: 'Ask whoever runs the server.' },
  no_consent: { says: 'no consent', todo: 'Get the person’s consent, and say it in a list of a new campaign.' },
  abandoned: { says: 'answered and found no agent', todo: 'Look at the call: it says what the agent did.' },
  agent_failing: { says: 'the agent fails', todo: 'Mend the agent, and test it.' },
  agent_unproven: {
    says: 'the agent is not proven yet',
    todo: 'Wait until it is heard in a call: three at a time are placed until then.',
  },
  scheduled: { says: 'its time has not come', todo: 'Wait.' },
  expired: { says: 'its time was over', todo: 'Place it again.' },
  skipped_by_user: { says: 'somebody had it skipped', todo: 'Nothing: somebody did not want it called.' },
} satisfies Record<Known<Schemas['CampaignContactReason'] | Schemas['CallReason']>, Reason>;

export const reasonWords: Readonly<Record<string, Reason>> = REASONS;

/** A word of the contract as a person writes it: `no_answer` is "no answer". */
export const plain = (word: string) => word.replaceAll('_', ' ');

export const reasonSays = (reason: string) => reasonWords[reason]?.says ?? plain(reason);

const OUTCOME_WORDS = {
  answered: 'Answered',
  voicemail: 'A voicemail answered',
  no_answer: 'Nobody answered',
  busy: 'Busy',
  declined: 'Declined',
  invalid_number: 'The number is invalid',
  do_not_call: 'Not called: the number is on a do-not-call list',
  trunk_error: 'The trunk failed',
  agent_error: 'The agent failed',
  cancelled: 'Taken back before an answer',
  unknown: 'Nobody knows whether it was placed',
} satisfies Record<Known<Schemas['CallOutcome']>, string>;

/** How a call ended, as a sentence begins. */
export const outcomeWords: Readonly<Record<string, string>> = OUTCOME_WORDS;

/** Outcomes in the order in which people ask for them. */
export const OUTCOMES = Object.keys(OUTCOME_WORDS) as (keyof typeof OUTCOME_WORDS)[];

const count = new Intl.NumberFormat('en');
/** 12,345. */
export const number = (value: number) => count.format(value);

/** "1 contact", "12 contacts". */
export const several = (value: number, one: string, more = `${one}s`) => `${number(value)} ${value === 1 ? one : more}`;

/** A share with one decimal, without 100.0 for what is a little less than all. */
export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const tenths = Math.round((part / whole) * 1000);
  if (tenths === 1000 && part < whole) return '99.9 %';
  if (tenths === 0 && part > 0) return '0.1 %';
  return `${(tenths / 10).toFixed(1)} %`;
}

/** 65 is 1:05; 3,725 is 1:02:05. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** What a permission is checked against: `*` is all. */
export const allows = (permissions: readonly string[], wanted: string) =>
  permissions.includes('*') || permissions.includes(wanted);

/** The last part of an ID, which is enough to know it by. */
export const short = (id: string) => id.replace(/^(\w+?_).*(.{6})$/, '$1…$2');

export type Campaign = Schemas['Campaign'];
export type Stats = Schemas['CampaignStats'];
export type Workspace = Schemas['Workspace'];
export type Contact = Schemas['CampaignContact'];
export type Call = Schemas['Call'];

/** Numbers as they are copied from a table or a mail: one on each line, or with commas between. */
export const numbersIn = (text: string): string[] =>
  text
    .split(/[\n,;\t]/)
    .map((each) => each.trim())
    .filter(Boolean);
