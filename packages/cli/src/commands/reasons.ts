import type { components, Known } from '@trunkline/client';

type Schemas = components['schemas'];
type Reason = Known<Schemas['CampaignContactReason']>;

/** Why somebody is not called, in words. A reason that the contract gains must be added here. */
export const reasons: Readonly<Record<Reason, string>> = {
  outside_window: 'It is outside of the hours of the campaign.',
  quiet_hours: 'It is within the quiet hours of the workspace.',
  holiday: 'It is a holiday.',
  do_not_call: 'The number is on the do-not-call list, or their list says that nobody is to call.',
  retry_later: 'They are tried again later.',
  limit_reached: 'A limit is reached: calls at once, the pace, the day, or attempts a person.',
  no_caller_id: 'No number is ready to call from: trunkline numbers list',
  country_not_allowed: 'The workspace may not call this country: trunkline workspace show',
  campaign_paused: 'The campaign is paused.',
  campaign_stopped: 'The campaign was stopped.',
  campaign_ended: 'The campaign ended before it was their turn.',
  target_reached: 'The campaign has reached its target.',
  dialing_paused: 'All dialing is stopped: trunkline resume',
  already_on_a_call: 'Somebody else is calling this number now.',
  retries_exhausted: 'They were tried as often as the campaign may.',
  invalid_number: 'The number can not be called.',
  outcome_unknown: 'How a call of theirs ended is not known, and they may have been reached.',
  no_common_hour: 'No hour is right in all time zones that the number may be in.',
  witness_unreachable: 'No server can write to its witness: its operator must look.',
  trunk_busy: 'The trunk has no room now.',
  trunk_paused: 'The trunk is paused: trunkline trunks list',
  operator_limit: 'Whoever runs the server lets no workspace call this number, or has this one call no more today.',
  invalid_time_zone: 'Its time zone is no name that can be read: give the contact one such as Europe/Berlin.',
  no_consent: 'The campaign calls only people who have agreed, and no list says so of this one.',
  abandoned: 'They answered and found no agent, and the campaign calls nobody again for it (abandonedRetry).',
  agent_failing: 'The agent failed in three calls in a row: trunkline agents test',
  agent_unproven: 'The agent was heard in no call yet: until it is, three of its calls at most ring or are up.',
  skipped_by_user: 'Somebody had them skipped.',
  invalid_contact: 'What is kept of the contact can not be used; the log of the server says why.',
};

/** Why, in words; what a newer server says stands as it is. */
export const reasonInWords = (reason: string | undefined): string | undefined =>
  reason && (reasons[reason as Reason] ?? reason);

/** Where a contact stands, in words. */
export const states: Readonly<Record<Known<Schemas['CampaignContactState']>, string>> = {
  pending: 'not tried yet',
  waiting: 'waits for the next try',
  dialing: 'on a call now',
  done: 'done',
  skipped: 'is not called',
};
