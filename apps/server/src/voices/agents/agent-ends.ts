import type { AgentEnd, AgentEndReason } from '../../lines/media/agent-end.ts';

/** The end of a call that had an agent. */
export interface EndOfAgent {
  /** UUID. */
  workspaceId: string;
  agentId: string;
  endedAt: Date;
  answeredAt: Date | null;
  end: AgentEnd;
  /** Whether it has told a result of the call: then it was there. */
  hasTold: boolean;
}

/** What some ends have shown of one agent. */
export interface AgentNews {
  workspaceId: string;
  agentId: string;
  /** How often it has failed since it was heard, among these. */
  failures: number;
  failedAt: Date | null;
  reason: AgentEndReason | null;
  heardAt: Date | null;
  /** When its model last had no rate or quota left. */
  limitedAt: Date | null;
}

/** An agent that was heard in a call. */
export interface HeardAgent {
  workspaceId: string;
  agentId: string;
  at: Date;
}

/** That some agents were heard: of each the last time, by the order in which they are given. Answered in the order of their keys. */
export function newsOfHeard(heard: readonly HeardAgent[]): AgentNews[] {
  const last = new Map(heard.map((each) => [`${each.workspaceId} ${each.agentId}`, each]));
  return [...last]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { workspaceId, agentId, at }]) => ({
      ...{ workspaceId, agentId, failures: 0, failedAt: null, reason: null, heardAt: at, limitedAt: null },
    }));
}

/** Ends that are not the agent's fault, whether it was heard or not. */
const nobodysFault: ReadonlySet<AgentEndReason> = new Set(['call_ended', 'silence', 'media_lost', 'limit_reached']);

/**
 * What the ends of some calls have shown of their agents, each of which failed and was never heard, or was heard; what says
 * neither is left out. By the order of what happened: a call that was heard long before its end says nothing of what came
 * after. Answered in the order of their keys.
 */
export function newsOfAgents(ends: readonly EndOfAgent[]): AgentNews[] {
  const byAgent = new Map<string, { heard: Date[]; failed: EndOfAgent[]; limited: Date[] }>();
  for (const each of ends) {
    const { end, answeredAt } = each;
    const key = `${each.workspaceId} ${each.agentId}`;
    const own = byAgent.get(key) ?? { heard: [], failed: [], limited: [] };
    const isLimited = end.reason === 'limit_reached';
    if (isLimited) own.limited.push(each.endedAt);
    if (end.firstSoundMs !== undefined && answeredAt) own.heard.push(new Date(answeredAt.getTime() + end.firstSoundMs));
    else if (!nobodysFault.has(end.reason) && !each.hasTold) own.failed.push(each);
    else if (!isLimited) continue;
    byAgent.set(key, own);
  }
  return [...byAgent]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { heard, failed, limited }]) => {
      const [workspaceId, ...agentId] = key.split(' ');
      const heardAt = heard.toSorted((a, b) => b.getTime() - a.getTime())[0] ?? null;
      const last = failed.toSorted((a, b) => b.endedAt.getTime() - a.endedAt.getTime())[0];
      return {
        workspaceId: workspaceId!,
        agentId: agentId.join(' '),
        failures: failed.filter(({ endedAt }) => !heardAt || endedAt > heardAt).length,
        failedAt: last?.endedAt ?? null,
        reason: last?.end.reason ?? null,
        heardAt,
        limitedAt: limited.toSorted((a, b) => b.getTime() - a.getTime())[0] ?? null,
      };
    });
}
