import type { components } from '../../foundation/values/generated/contract.ts';
import type { Answered } from '../media/answered/answered-voice.ts';
import type { ModelUsage } from '../media/realtime/speech-model.ts';
import type { Turn } from '../media/transcript.ts';

/** The call whose agent asks for something. IDs are UUIDs, but the agent's. */
export interface ServedCall {
  workspaceId: string;
  roomId: string;
  agentId: string;
  /** A browser stands in the place of the telephone: nobody is rung, and nothing is kept. */
  isTalk?: true;
}

/** What an agent of a talk is told of what would be about a person. */
export const NOBODY_RUNG = 'Nothing comes of it in a talk: nobody is at the other end.';

/** When somebody is to be called again: in so many minutes, or the next time that it is so late where the person is. */
export interface CallBackTime {
  inMinutes?: number;
  /** As `09:30`. */
  at?: string;
}

/** What an agent that this server itself speaks for can ask for in its call: each for this call and its person alone. */
export type AgentRequest =
  /**
   * What it found out: the same as a `POST` of the call's result. Answers nothing.
   * @param over the call is over: what its model has used, and whether this is all that is told of the call
   */
  | {
      type: 'record_result';
      result: components['schemas']['RecordCallResult'] & Pick<components['schemas']['CallResult'], 'dataComplete'>;
      over?: { isAll: boolean; usage?: ModelUsage };
    }
  /** A tool that its model calls. Answers a `ToolAnswer`. @param id the model's name of this use @param args JSON, as the model wrote it */
  | { type: 'use_tool'; id: string; name: string; args: string }
  /** Another call with the same person. Answers nothing. */
  | ({ type: 'call_back' } & CallBackTime)
  /** Digits for the far side. Answers `DigitsSent`. Done by the call itself. */
  | { type: 'send_digits'; digits: string }
  /** Sound of the callee, µ-law. Answers its words. */
  | { type: 'transcribe'; ulaw: Uint8Array }
  /** Who answered, and what was left as a message, as far as it is known. Answers nothing. Kept by the call itself. */
  | { type: 'answered_by'; answered: Answered }
  /** The person was handed on: another party is there, and the agent has done its part. Answers nothing. Asked by the call itself. @param transferId UUID */
  | { type: 'handed_on'; transferId: string }
  /** What was said so far in a turn, for who follows the call. @param item its name in this call */
  | { type: 'turn'; item: string; turn: Turn }
  /** A sentence of a script. Answers its sound, a `SharedArrayBuffer` of µ-law. @param isKept whether it is the same for everybody */
  | { type: 'speech'; text: string; language: string; voice?: string; isKept: boolean }
  /** Its call is over: what was kept for it alone is not needed any more. Asked by the call itself. */
  | { type: 'over' }
  /** A sound of the workspace. Answers it in the same way. */
  | { type: 'sound'; soundId: string };
