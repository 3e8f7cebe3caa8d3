import type { AgentConnection } from '../telephony/agent-connection.ts';
import type { Briefing } from './briefing.ts';
import { RealtimeAgent } from './realtime-agent.ts';
import { ScriptAgent } from './script-agent.ts';
import { StreamAgent } from './stream-agent.ts';
import type { Voice } from './voice.ts';

const kinds: {
  [Type in AgentConnection['type']]: (
    connection: Extract<AgentConnection, { type: Type }>,
    briefing: Briefing,
  ) => Voice;
} = {
  stream: (connection, briefing) => new StreamAgent(connection, briefing),
  realtime: (connection, briefing) => new RealtimeAgent(connection, briefing),
  script: (connection, briefing) => new ScriptAgent(connection, briefing),
};

/** The voice of an agent in a call. @returns nothing if it has no connection */
export const voiceOf = (connection: AgentConnection | undefined, briefing: Briefing): Voice | undefined =>
  connection && kinds[connection.type](connection as never, briefing);
