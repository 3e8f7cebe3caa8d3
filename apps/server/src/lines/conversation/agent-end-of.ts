import type { AgentEnd } from '../media/agent-end.ts';
import { usageOf } from '../media/realtime/model-usage.ts';
import type { Standing } from './decide.ts';
import type { EndMeaning } from './meaning-of-end.ts';

/** A callee that has spoken, and waited so long for an agent that was never heard, in milliseconds, hung up on a mute one. */
const MUTE_AFTER_MS = 5000;

/** What the agent of a call did, once the call is over; nothing if it was never asked to join. */
export function agentEndOf(standing: Standing): AgentEnd | undefined {
  const { voiceEnd, stats, isVoiceAsked } = standing;
  if (!isVoiceAsked) return undefined;
  const end = voiceEnd ?? stats?.voiceEnd ?? { reason: 'call_ended' as const };
  const { firstSoundMs, soundLeftOutMs = 0, voice } = stats ?? {};
  const usage = usageOf(voice);
  return {
    ...end,
    ...(end.reason === 'call_ended' && isMute(standing) && { reason: 'mute' }),
    ...(firstSoundMs !== undefined && { firstSoundMs }),
    soundLeftOutMs,
    framesMissed: voice?.['framesMissed'] ?? 0,
    ...(usage && { usage }),
  };
}

/** Whether the far side has hung up on an agent that it talked to and never heard. */
function isMute({ legEnd, stats, times, endedAt }: Standing): boolean {
  const isHungUp = legEnd?.kind === 'hung_up' && legEnd.by === 'far';
  if (!isHungUp || !stats?.calleeSpoke || stats.firstSoundMs !== undefined || !times.answeredAt) return false;
  return endedAt!.getTime() - times.answeredAt.getTime() >= MUTE_AFTER_MS;
}

const nobodysFault = new Set<AgentEnd['reason']>(['call_ended', 'silence', 'media_lost']);

/** What an end means if its agent was never heard: whoever answered has talked to nobody. */
export function withAgent(meaning: EndMeaning, agentEnd: AgentEnd | undefined): EndMeaning {
  const isUnheard = agentEnd && agentEnd.firstSoundMs === undefined && !nobodysFault.has(agentEnd.reason);
  return meaning.outcome === 'answered' && isUnheard ? { ...meaning, outcome: 'agent_error' } : meaning;
}
