import type { CallObstacle } from './call-wish.ts';
import { COUNTRY_NOT_ALLOWED, OPERATOR_LIMIT } from './may-dial.ts';

/** What stands in the way of a call now, in words. */
export const whyBlocked: Record<CallObstacle, string> = {
  dialing_paused: 'Dialing is paused in this workspace.',
  quiet_hours:
    'It is quiet hours where the callee is. trustedNumbers of the workspace are free of those that it begins with.',
  holiday: 'It is a holiday where the callee is.',
  outside_window: 'It is outside the calling windows where the callee is.',
  no_common_hour:
    'The callee may be in several time zones, and the calling windows are never open in all of them at once.',
  invalid_time_zone: 'The time zone that is given for the callee is none that can be read.',
  limit_reached: 'A limit of the workspace, or of the agent, is reached.',
  operator_limit: OPERATOR_LIMIT,
  country_not_allowed: COUNTRY_NOT_ALLOWED,
  no_caller_id: 'There is no number that can place the call now.',
  trunk_busy: 'The trunk has no room for the call now: its channels or calls a second are used.',
  witness_unreachable: 'The server can not tell its witness of the call, without which it might be placed twice.',
  trunk_paused: 'The trunk of the number is paused.',
  agent_failing:
    'The agent failed in three calls in a row, and nobody is called for it. A test that reaches it opens it again.',
  agent_unproven:
    'The agent was heard in no call since its last change or failure: until it is, at most three of its calls ring or are up.',
  already_on_a_call: 'The callee is on another call.',
};
