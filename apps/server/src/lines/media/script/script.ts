/** A sentence, by its text or a sound by its ID. */
export interface Utterance {
  text?: string;
  soundId?: string;
}

interface Step {
  id: string;
  /** The step after it; without one the next of the list. */
  next?: string;
}

/** Says something. A key ends it, and answers the `ask` that follows, unless `bargeIn` is false. */
export interface SayStep extends Step, Utterance {
  type: 'say';
  bargeIn?: boolean;
}

/** Says something and waits for keys. */
export interface AskStep extends Step, Utterance {
  type: 'ask';
  bargeIn?: boolean;
  /** Those that are right. */
  keys?: string;
  /** How many are pressed; fewer if one ends them. */
  length?: number;
  endKey?: string;
  timeoutSeconds?: number;
  /** How often it is asked at most. */
  attempts?: number;
  /** Said before it is asked again. */
  wrong?: Utterance;
  nothing?: Utterance;
  /** The name of the answer in the call's `result.data`. */
  saveAs?: string;
  /** The step after it if no answer came. */
  otherwise?: string;
}

/** Goes on by an answer, or by a variable of the call. */
export interface BranchStep extends Step {
  type: 'branch';
  on: string;
  cases: { is: string; next: string }[];
}

export interface SetStep extends Step {
  type: 'set';
  data?: Record<string, string>;
  disposition?: string;
  converted?: boolean;
}

export interface OptOutStep extends Step {
  type: 'opt_out';
  /** The step after it if that can't be done. */
  otherwise?: string;
}

/** Has the person called again: in so many minutes, or at a time of its clock. */
export interface CallBackStep extends Step {
  type: 'call_back';
  inMinutes?: number;
  at?: string;
  otherwise?: string;
}

/** Presses keys, such as those of a menu. */
export interface PressKeysStep extends Step {
  type: 'press_keys';
  digits: string;
  otherwise?: string;
}

export interface HangUpStep {
  id: string;
  type: 'hang_up';
}

export type ScriptStep =
  | SayStep
  | AskStep
  | BranchStep
  | SetStep
  | OptOutStep
  | CallBackStep
  | PressKeysStep
  | HangUpStep;

/** The place of an answer in a text that is written down: no value of a contact's looks like it, as these have no such characters. */
export const answerPlace = (id: string): string => `\0${id}\0`;

/** A text with its answers in their places, and nothing for those that nobody gave. */
export const withAnswers = (text: string, answers: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\0([^\0]*)\0?/g, (_, id: string) => (Object.hasOwn(answers, id) ? answers[id]! : ''));

/** A way out of a step: to a step, or, without one, to the end of the call. */
export interface Way {
  to: string | undefined;
  /** Where the step names it: `next`, `otherwise`, `cases/0/next`; the next of the list has no place. */
  at: string;
  /** Only after a key was pressed. */
  byKey: boolean;
}

/** The step that stands behind another in the list. */
export const behind = (steps: readonly ScriptStep[], index: number): string | undefined => steps[index + 1]?.id;

/** Every way out of a step. */
export function waysOf(steps: readonly ScriptStep[], index: number): Way[] {
  const step = steps[index]!;
  if (step.type === 'hang_up') return [];
  const to = step.next ?? behind(steps, index);
  const next = { to, at: step.next === undefined ? '' : 'next' };
  if (step.type === 'ask') {
    const otherwise = step.otherwise === undefined ? next : { to: step.otherwise, at: 'otherwise' };
    return [
      { ...next, byKey: true },
      { ...otherwise, byKey: false },
    ];
  }
  const fails = 'otherwise' in step && step.otherwise !== undefined ? [{ to: step.otherwise, at: 'otherwise' }] : [];
  const cases = step.type === 'branch' ? step.cases.map((each, at) => ({ to: each.next, at: `cases/${at}/next` })) : [];
  return [...cases, next, ...fails].map((way) => ({ ...way, byKey: false }));
}
