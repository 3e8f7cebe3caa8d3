import type { OutboundAnswer } from '../../foundation/outbound-http/guarded-request.ts';

/** What becomes of an inbound call. `{}`: the agent that is bound to the number takes it. */
export type InboundDecision = { agentId?: string; variables?: Record<string, string> } | { reject: true };

const MOST_VARIABLES = 128;
const LONGEST_VALUE = 65_536;
const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads the contract's `InboundCallDecision`. Throws where an answer is none, and says why. */
export function readInboundDecision({ status, body }: Pick<OutboundAnswer, 'status' | 'body'>): InboundDecision {
  if (status === 204) return {};
  if (status !== 200) throw new Error(`the answer was ${status}`);
  const given: unknown = JSON.parse(body.toString('utf8'));
  if (!isObject(given)) throw new Error('the answer is no object');
  const { agentId, variables, reject, ...others } = given;
  if (Object.keys(others).length > 0) throw new Error('the answer has unknown fields');
  if (reject !== undefined) {
    if (reject !== true || agentId !== undefined || variables !== undefined)
      throw new Error('reject is only ever true');
    return { reject };
  }
  if (agentId !== undefined && !(typeof agentId === 'string' && AGENT_ID.test(agentId))) {
    throw new Error('agentId is no agent ID');
  }
  if (variables !== undefined && !areVariables(variables)) throw new Error('variables are no map of texts');
  return { ...(agentId !== undefined && { agentId }), ...(variables !== undefined && { variables }) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function areVariables(value: unknown): value is Record<string, string> {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  const isFit = ([name, text]: [string, unknown]) =>
    name.length >= 1 &&
    name.length <= 255 &&
    !RESERVED.has(name) &&
    typeof text === 'string' &&
    text.length <= LONGEST_VALUE;
  return entries.length <= MOST_VARIABLES && entries.every(isFit);
}
