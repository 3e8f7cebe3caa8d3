import type { components } from '../../foundation/values/generated/contract.ts';

/** The call whose agent asks for something. IDs are UUIDs, but the agent's. */
export interface ServedCall {
  workspaceId: string;
  roomId: string;
  agentId: string;
}

/** What an agent that this server itself speaks for can ask for in its call: each for this call and its person alone. */
export type AgentRequest =
  /** What it found out: the same as a `POST` of the call's result. Answers nothing. */
  | {
      type: 'record_result';
      result: components['schemas']['RecordCallResult'] & Pick<components['schemas']['CallResult'], 'dataComplete'>;
    }
  /** A tool that its model calls. Answers a `ToolAnswer`. @param args JSON, as the model wrote it */
  | { type: 'use_tool'; name: string; args: string };
