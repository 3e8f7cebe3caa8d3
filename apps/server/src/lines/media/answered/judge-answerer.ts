import type { Heard } from '@trunkline/media';
import type { components } from '../../../foundation/values/generated/contract.ts';

export type AnsweredBy = components['schemas']['CallAnsweredBy'];
export const answerers: readonly AnsweredBy[] = [
  ...(['unknown', 'human', 'machine', 'screening', 'menu', 'fax', 'not_in_service'] as const),
];
/** What was heard, when, and how sure that is. */
export type Evidence = components['schemas']['CallEvidence'];

/** Who seems to have answered. */
export interface Verdict {
  answeredBy: AnsweredBy;
  /** From 0 to 1. */
  confidence: number;
}

/** Nobody is hung up on, kept from the agent or counted as a machine for less. */
export const SURE = 0.85;

type Clue = Omit<Evidence, 'atMs' | 'words'>;

/** A first greeting of a person is no longer than this; what a machine says as shortly is taken for a person's. */
const SHORT_GREETING_MS = 2500;

/**
 * What each thing that is heard speaks for. Timing alone is known to fail: a short greeting makes a person likely, and a
 * long one makes nothing of anybody.
 */
const clues = {
  short_greeting: { heard: 'short_greeting', suggests: 'human', confidence: 0.6 },
  long_greeting: { heard: 'long_greeting', suggests: 'unknown', confidence: 0.5 },
  beep: { heard: 'beep', suggests: 'machine', confidence: 0.85 },
  sit: { heard: 'sit', suggests: 'not_in_service', confidence: 0.9 },
  fax: { heard: 'fax_tone', suggests: 'fax', confidence: 0.97 },
  busy: { heard: 'busy_tone', suggests: 'unknown', confidence: 0.9 },
  ringback: { heard: 'ringback', suggests: 'unknown', confidence: 0.5 },
} as const satisfies Record<string, Clue>;

/** What the agent says by itself. */
export const wordOfAgent = (answeredBy: AnsweredBy, atMs: number): Evidence => ({
  ...{ heard: 'agent', suggests: answeredBy, confidence: 0.95, atMs },
});

/** Words that were understood. @param words those that tell it */
export const wordsOf = (suggests: AnsweredBy, confidence: number, words: string, atMs: number): Evidence => ({
  ...{ heard: 'words', suggests, confidence, words, atMs },
});

/** A beep between people may be of their household. */
const BEEP_IN_TALK = 0.5;

/**
 * What something that is heard of the callee speaks for; nothing of most.
 * @param isFirst of speech: whether it is the greeting
 * @param isTalk whether callee and agent have taken turns
 */
export function evidenceOf(heard: Heard, isFirst: boolean, isTalk = false): Evidence | undefined {
  const { type, from: atMs } = heard;
  if (type === 'speech') return undefined;
  if (type === 'beep' && isTalk) return { ...clues.beep, confidence: BEEP_IN_TALK, atMs };
  if (type !== 'pause') return { ...clues[type], atMs };
  if (!isFirst) return undefined;
  const isShort = heard.until - heard.from <= SHORT_GREETING_MS;
  return { ...clues[isShort ? 'short_greeting' : 'long_greeting'], atMs };
}

/**
 * Who answered, by all that was heard: what makes one sure counts most, and several that speak for the same count together.
 * Nothing that only makes one doubt comes before it.
 */
export function judgeAnswerer(evidence: readonly Evidence[]): Verdict {
  const doubts = new Map<AnsweredBy, number>();
  for (const { suggests, confidence } of evidence)
    if (suggests !== 'unknown') doubts.set(suggests, (doubts.get(suggests) ?? 1) * (1 - confidence));
  let verdict: Verdict = { answeredBy: 'unknown', confidence: 0 };
  for (const [answeredBy, doubt] of doubts)
    if (1 - doubt > verdict.confidence) verdict = { answeredBy, confidence: 1 - doubt };
  const agents = evidence.findLast(({ heard }) => heard === 'agent');
  const found = agents ? { answeredBy: agents.suggests, confidence: agents.confidence } : verdict;
  return { answeredBy: found.answeredBy, confidence: Math.round(found.confidence * 100) / 100 };
}
