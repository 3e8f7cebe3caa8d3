import type { AnsweredAsk } from '../media/answered/answered-voice.ts';

/**
 * Fills in the templates of a text, those without a value with nothing.
 * @param encode what is done to each filled-in value
 */
export type FillTemplates = (
  text: string,
  variables: Record<string, unknown>,
  encode: (value: string) => string,
) => string;

/** What the words of agents that the server speaks for are made with. */
export interface AgentWords {
  fill: FillTemplates;
  /** Tells what time it is where a person is. @param number E.164, if it is known */
  localTime: (number: string | undefined) => string;
}

/** What an agent is told of its call. */
export interface Briefing extends AgentWords {
  agentId: string;
  workspaceId: string;
  roomId: string;
  /** UUID of what its trace begins with; the room without it. */
  trace?: string | undefined;
  variables: Record<string, unknown> | undefined;
  /** What it is told beside them. */
  told: object | undefined;
  far: 'callee' | 'caller';
  /** E.164; the caller's is absent if it is withheld, and both in a talk. */
  numbers: { from: string | undefined; to: string | undefined };
  /** Of a call that is placed. */
  answering?: AnsweredAsk | undefined;
  /** Whether somebody follows what is said while it is. */
  isFollowed?: boolean;
}

/** Of one value that stands in a text, in characters. */
const MOST_VALUE = 500;
/** Of a message that is left, in characters. */
const MOST_MESSAGE = 2000;

/** A value of a contact as it may stand in a text of an agent: one line, and bounded. */
export const inOneLine = (value: string): string =>
  value
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MOST_VALUE);

/** What is done about who answers, its text filled in. */
export function answeringOf({ answering, fill, variables = {} }: Briefing): AnsweredAsk | undefined {
  const { message } = answering ?? {};
  if (!answering || !message || !('text' in message)) return answering;
  const text = fill(message.text, variables, inOneLine).slice(0, MOST_MESSAGE);
  return { ...answering, message: { ...message, text, isKept: !message.text.includes('{{') } };
}
