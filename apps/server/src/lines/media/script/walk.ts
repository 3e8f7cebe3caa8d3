import {
  type AskStep,
  behind,
  type CallBackStep,
  type OptOutStep,
  type PressKeysStep,
  type ScriptStep,
  type Utterance,
  withAnswers,
} from './script.ts';

/** What is kept of a call by its script. */
export interface ScriptResult {
  data?: Record<string, string>;
  disposition?: string;
  converted?: boolean;
}

/** What happens to a script. */
export type WalkInput =
  /** The call is answered. */
  | { type: 'began' }
  /** What was to be said has been, or could not be. */
  | { type: 'said' }
  | { type: 'key'; key: string }
  /** No key came in time. */
  | { type: 'late' }
  /** What was asked of the server is done, or has failed. */
  | { type: 'served'; isDone: boolean };

/** What a script does next. */
export type WalkEffect =
  | { do: 'say'; utterance: Utterance }
  /** Leaves out the rest of what is said. */
  | { do: 'hush' }
  | { do: 'wait'; seconds: number }
  | { do: 'wait_no_more' }
  /** Keeps what is known so far; nobody waits for it. */
  | { do: 'keep'; result: ScriptResult }
  /** Waits for it. */
  | { do: 'opt_out' }
  | { do: 'call_back'; inMinutes?: number; at?: string }
  | { do: 'press_keys'; digits: string }
  | { do: 'end'; fault?: string };

/** How far a script is. */
export interface Walk {
  mode: 'waiting' | 'saying' | 'asking' | 'listening' | 'serving' | 'over';
  at: number;
  /** Keys of the answer that is being given, or that came before it was asked for. */
  keys: string;
  attempt: number;
  /** What is still to be said before the call listens. */
  toSay: readonly Utterance[];
  answers: Readonly<Record<string, string>>;
  result: ScriptResult;
}

/** A script as it is walked through. */
export interface Script {
  steps: readonly ScriptStep[];
  variables: Readonly<Record<string, unknown>>;
}

export const beginning: Walk = {
  ...{ mode: 'waiting', at: 0, keys: '', attempt: 0, toSay: [] },
  ...{ answers: {}, result: {} },
};

const ANY_KEY = '0123456789';
const TIMEOUT_SECONDS = 5;
const ATTEMPTS = 2;
const NOT_DONE = 'The server could not do what the script asked for.';
/** Keys that may be pressed before they are asked for. */
const MOST_AHEAD = 20;

interface Moved {
  walk: Walk;
  effects: WalkEffect[];
}

const stay = (walk: Walk): Moved => ({ walk, effects: [] });
const and = (moved: Moved, ...before: WalkEffect[]): Moved => ({ ...moved, effects: [...before, ...moved.effects] });

/** What an input comes to: a table by mode and input. What it doesn't have changes nothing. */
export function walkOn(script: Script, walk: Walk, input: WalkInput): Moved {
  const rule = rules[walk.mode][input.type] as ((script: Script, walk: Walk, input: WalkInput) => Moved) | undefined;
  return rule ? rule(script, walk, input) : stay(walk);
}

type Rules = {
  [Type in WalkInput['type']]?: (script: Script, walk: Walk, input: Extract<WalkInput, { type: Type }>) => Moved;
};

const rules: Record<Walk['mode'], Rules> = {
  waiting: { began: (script, walk) => enter(script, walk, script.steps[0]?.id) },
  saying: {
    said: (script, walk) => leave(script, walk),
    key: (script, walk, { key }) => {
      if (mayNotBreakIn(script, walk)) return stay(walk);
      return and(leave(script, { ...walk, keys: key }), { do: 'hush' });
    },
  },
  asking: {
    said: (script, walk) => sayNext(script, walk),
    key: (script, walk, { key }) => {
      if (mayNotBreakIn(script, walk)) return stay(walk);
      return and(take(script, { ...walk, toSay: [] }, key), { do: 'hush' });
    },
  },
  listening: {
    key: (script, walk, { key }) => and(take(script, walk, key), { do: 'wait_no_more' }),
    late: (script, walk) => {
      const { endKey } = asked(script, walk);
      if (walk.keys === '') return askAgain(script, walk, 'nothing');
      return endKey === undefined ? askAgain(script, walk, 'wrong') : answer(script, walk);
    },
  },
  serving: {
    served: (script, walk, { isDone }) => {
      const { otherwise } = script.steps[walk.at] as OptOutStep | CallBackStep | PressKeysStep;
      if (isDone) return leave(script, walk);
      return otherwise === undefined ? end(walk, NOT_DONE) : enter(script, walk, otherwise);
    },
    key: (_script, walk, { key }) => stay({ ...walk, keys: (walk.keys + key).slice(-MOST_AHEAD) }),
  },
  over: {},
};

const end = (walk: Walk, fault?: string): Moved => ({
  walk: { ...walk, mode: 'over' },
  effects: [{ do: 'end', ...(fault !== undefined && { fault }) }],
});

const mayNotBreakIn = ({ steps }: Script, { at }: Walk): boolean => {
  const step = steps[at]!;
  return 'bargeIn' in step && step.bargeIn === false;
};

const asked = ({ steps }: Script, { at }: Walk): AskStep => steps[at] as AskStep;

/** Goes to the step behind the one that is done. */
function leave(script: Script, walk: Walk): Moved {
  const step = script.steps[walk.at]!;
  return enter(script, walk, ('next' in step ? step.next : undefined) ?? behind(script.steps, walk.at));
}

/** Begins a step, and those behind it that take no time. Without a step the call is over. */
function enter(script: Script, before: Walk, first: string | undefined): Moved {
  const { steps } = script;
  const effects: WalkEffect[] = [];
  let walk = before;
  let id = first;
  for (let moves = 0; moves <= steps.length; moves += 1) {
    const at = steps.findIndex((step) => step.id === id);
    const step = steps[at];
    if (!step || step.type === 'hang_up') return and(end(walk), ...effects);
    walk = { ...walk, at };
    if (step.type === 'branch') id = taken(script, walk, step);
    else if (step.type === 'set') {
      walk = { ...walk, result: resultWith(walk, step) };
      effects.push({ do: 'keep', result: walk.result });
      id = step.next ?? behind(steps, at);
    } else return and(begin(script, walk, step), ...effects);
  }
  return and(end(walk, 'The script goes round without end.'), ...effects);
}

function begin(script: Script, walk: Walk, step: Exclude<ScriptStep, { type: 'branch' | 'set' | 'hang_up' }>): Moved {
  switch (step.type) {
    case 'say':
      return { walk: { ...walk, mode: 'saying', keys: '' }, effects: [{ do: 'say', utterance: step }] };
    case 'ask':
      return ask(script, { ...walk, attempt: 1 }, step);
    case 'opt_out':
      return { walk: { ...walk, mode: 'serving' }, effects: [{ do: 'opt_out' }] };
    case 'press_keys':
      return { walk: { ...walk, mode: 'serving' }, effects: [{ do: 'press_keys', digits: step.digits }] };
    case 'call_back': {
      const { inMinutes, at } = step;
      const when = { ...(inMinutes !== undefined && { inMinutes }), ...(at !== undefined && { at }) };
      return { walk: { ...walk, mode: 'serving' }, effects: [{ do: 'call_back', ...when }] };
    }
  }
}

/** Asks, unless the answer was given before. */
function ask(script: Script, walk: Walk, step: AskStep): Moved {
  let moved: Moved = sayNext(script, { ...walk, mode: 'asking', keys: '', toSay: [step] });
  for (const key of step.bargeIn === false ? '' : walk.keys)
    if (moved.walk.at === walk.at && moved.walk.mode !== 'over') {
      const before = moved.effects.filter((effect) => effect.do !== 'say' && effect.do !== 'wait');
      moved = and(take(script, { ...moved.walk, toSay: [] }, key), ...before);
    }
  return moved;
}

function sayNext(script: Script, walk: Walk): Moved {
  const [utterance, ...toSay] = walk.toSay;
  if (utterance) return { walk: { ...walk, mode: 'asking', toSay }, effects: [{ do: 'say', utterance }] };
  const { timeoutSeconds: seconds = TIMEOUT_SECONDS } = asked(script, walk);
  return { walk: { ...walk, mode: 'listening' }, effects: [{ do: 'wait', seconds }] };
}

/** One key of an answer. */
function take(script: Script, walk: Walk, key: string): Moved {
  const { keys = ANY_KEY, length = 1, endKey } = asked(script, walk);
  if (key === endKey && walk.keys !== '') return answer(script, walk);
  const given = { ...walk, keys: walk.keys + key };
  if (!keys.includes(key)) return askAgain(script, given, 'wrong');
  if (given.keys.length >= length) return answer(script, given);
  return sayNext(script, given);
}

function answer(script: Script, walk: Walk): Moved {
  const { id, saveAs } = asked(script, walk);
  const answers = { ...walk.answers, [id]: walk.keys };
  const given = { ...walk, answers, keys: '' };
  if (saveAs === undefined) return leave(script, given);
  const result = { ...walk.result, data: { ...walk.result.data, [saveAs]: walk.keys } };
  return and(leave(script, { ...given, result }), { do: 'keep', result });
}

function askAgain(script: Script, walk: Walk, why: 'wrong' | 'nothing'): Moved {
  const step = asked(script, walk);
  const again = { ...walk, keys: '', attempt: walk.attempt + 1 };
  if (again.attempt > (step.attempts ?? ATTEMPTS)) {
    // Nor does an answer count that was given before, the last time that it was asked.
    const { [step.id]: _before, ...answers } = walk.answers;
    const unanswered = { ...again, answers };
    return step.otherwise === undefined ? leave(script, unanswered) : enter(script, unanswered, step.otherwise);
  }
  const said = step[why];
  return sayNext(script, { ...again, mode: 'asking', toSay: said ? [said, step] : [step] });
}

function taken({ variables, steps }: Script, { answers, at }: Walk, step: Extract<ScriptStep, { type: 'branch' }>) {
  const value = Object.hasOwn(answers, step.on) ? answers[step.on] : variables[step.on];
  const text = value === undefined || value === null ? '' : String(value);
  const found = step.cases.find(({ is }) => is === text);
  return found?.next ?? step.next ?? behind(steps, at);
}

function resultWith({ result, answers }: Walk, step: Extract<ScriptStep, { type: 'set' }>): ScriptResult {
  const data = Object.entries(step.data ?? {}).map(([name, text]) => [name, withAnswers(text, answers)]);
  return {
    ...result,
    ...(data.length > 0 && { data: { ...result.data, ...Object.fromEntries(data) } }),
    ...(step.disposition !== undefined && { disposition: step.disposition }),
    ...(step.converted !== undefined && { converted: step.converted }),
  };
}
