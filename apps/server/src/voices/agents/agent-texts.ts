import { utterancesOf } from '../../lines/media/script/check-script.ts';
import type { AgentConnection } from '../../lines/telephony/agent-connection.ts';

/** The texts of an agent in which variables of a call are filled in. */
export interface AgentTexts {
  texts: string[];
  /** Names in them that are no variables: a script knows its answers by these. */
  answers: ReadonlySet<string>;
}

/** @returns no texts of an agent that has none, such as a stream */
export function agentTexts(connection: AgentConnection | undefined): AgentTexts {
  if (connection?.type === 'realtime') {
    const { instructions, firstMessage } = connection;
    return { texts: [instructions, ...(firstMessage === undefined ? [] : [firstMessage])], answers: new Set() };
  }
  if (connection?.type !== 'script') return { texts: [], answers: new Set() };
  const { steps } = connection;
  const said = steps.flatMap((step) => utterancesOf(step).flatMap(({ utterance }) => utterance.text ?? []));
  const written = steps.flatMap((step) => (step.type === 'set' ? Object.values(step.data ?? {}) : []));
  const answers = new Set(steps.flatMap(({ id, type }) => (type === 'ask' ? [id] : [])));
  return { texts: [...said, ...written], answers };
}
