import { hash } from 'node:crypto';
import type { SendRequest } from '../../foundation/outbound-http/guarded-request.ts';
import { OutboundError } from '../../foundation/outbound-http/outbound-error.ts';
import { webhookHeaders } from '../../foundation/outbound-http/webhook-headers.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { Shares } from '../../foundation/values/limiter.ts';
import type { ServedCall } from '../../lines/conversation/agent-request.ts';
import type { HttpTool } from '../../lines/telephony/agent-connection.ts';

/** How many requests of tools one process has under way; one workspace alone has half of them. */
const MOST_UNDER_WAY = 64;
/** Of an answer, and of one that is a failure, what the model is told. */
const MOST_BYTES = 16_384;
const MOST_OF_FAILURE = 500;

/** What came of a request, for the model. */
export interface CalledTool {
  output: string;
  isDone: boolean;
}

/** One use of a tool in a call. */
export interface ToolUse {
  /** The model's name of it. */
  id: string;
  tool: HttpTool;
  args: object;
  /** Signs the request. */
  secret: string;
}

/** Sends a tool's arguments to where its owner has it. Nothing is thrown. */
export type CallTool = (call: ServedCall, use: ToolUse) => Promise<CalledTool>;

/** Sends what tools of customers are called with, so many at a time that they hold up nobody. */
export function toolCaller(send: SendRequest): { call: CallTool; slots: Shares } {
  const slots = new Shares(MOST_UNDER_WAY);
  const call: CallTool = async (served, { id, tool, args, secret }) => {
    const { workspaceId } = served;
    if (!slots.take(workspaceId)) return failure('Too many tools are at work now. Wait a few seconds.');
    try {
      const { url, timeoutMs } = tool;
      const body = bodyOf(served, tool.name, args);
      const headers = { ...tool.headers, ...signed(secret, idOf(id, body), body) };
      const request = { workspaceId, method: 'POST', url, headers, body, timeoutMs, maxBytes: MOST_BYTES } as const;
      const answer = await send(request);
      const text = answer.body.toString();
      if (answer.status >= 200 && answer.status <= 299) return { output: text || 'It is done.', isDone: true };
      return failure(`It failed with ${answer.status}. ${text.slice(0, MOST_OF_FAILURE)}`);
    } catch (error) {
      if (error instanceof OutboundError) return failure(`It failed. ${error.message}`);
      throw error;
    } finally {
      slots.giveBack(workspaceId);
    }
  };
  return { call, slots };
}

const failure = (output: string): CalledTool => ({ output, isDone: false });

const bodyOf = ({ roomId, agentId, isTalk }: ServedCall, tool: string, args: object): string =>
  JSON.stringify({
    ...{ tool, arguments: args },
    call: { roomId: toId('room', roomId), agentId, ...(isTalk && { talk: true }) },
  });

/** One use in one call has one ID, however often it is sent: a model may name another one like it, or none. */
const idOf = (use: string, body: string): string =>
  `tool_${use === '' ? newUuid().replaceAll('-', '') : hash('sha256', `${use} ${body}`).slice(0, 32)}`;

/** With the agent's secret as it is for a key. */
const signed = (secret: string, id: string, body: string): Record<string, string> =>
  webhookHeaders([secret], { id, body, userAgent: 'Trunkline-Tools/1' });
