import { type ScriptStep, type Utterance, waysOf } from './script.ts';

/** A fault of a script: where it is, as `steps/3/next`, and what would be right. */
export interface ScriptFault {
  at: string;
  message: string;
}

/** What is asked about a script by who knows more. */
export interface ScriptQuestions {
  /** Tells what is wrong with the templates of a text. */
  templateFault: (text: string) => string | undefined;
  /** Why no text can be spoken, if that is so. */
  speechFault: string | undefined;
}

/** A text or a sound of a step, and where it stands in it. */
export interface PlacedUtterance {
  at: string;
  utterance: Utterance;
}

/** All that a step says. */
export function utterancesOf(step: ScriptStep): PlacedUtterance[] {
  if (step.type === 'say') return [{ at: '', utterance: step }];
  if (step.type !== 'ask') return [];
  const more = (['wrong', 'nothing'] as const).flatMap((at) => (step[at] ? [{ at, utterance: step[at] }] : []));
  return [{ at: '', utterance: step }, ...more];
}

/** What is wrong with a script in itself: every fault, in the order of its steps. Whether there are its sounds is asked elsewhere. */
export function checkScript(steps: readonly ScriptStep[], questions: ScriptQuestions): ScriptFault[] {
  const ids = new Map(steps.map(({ id }, index) => [id, index] as const).reverse());
  const reached = reachable(steps, ids);
  const endless = ids.size < steps.length ? new Set<number>() : roundsWithoutKey(steps, ids);
  const asks = new Set(steps.flatMap(({ id, type }) => (type === 'ask' ? [id] : [])));
  return steps.flatMap((step, index) => {
    const fault = (at: string, message: string) => ({ at: `steps/${index}${at && `/${at}`}`, message });
    return [
      ...(ids.get(step.id) === index ? [] : [fault('id', `Another step is named ${step.id}, too.`)]),
      ...waysOf(steps, index).flatMap(({ to, at }) =>
        at !== '' && !ids.has(to!) ? [fault(at, `There is no step ${to}.`)] : [],
      ),
      ...(reached.has(index) || ids.get(step.id) !== index ? [] : [fault('', 'No way leads to this step.')]),
      ...(endless.has(index)
        ? [fault('', 'If no key is pressed, the script comes back to this step without end.')]
        : []),
      ...faultsOfStep(step, asks, questions).map(({ at, message }) => fault(at, message)),
    ].filter(
      (each, at, all) => all.findIndex((other) => other.at === each.at && other.message === each.message) === at,
    );
  });
}

function faultsOfStep(step: ScriptStep, asks: ReadonlySet<string>, questions: ScriptQuestions): ScriptFault[] {
  const said = utterancesOf(step).flatMap(({ at, utterance }) => {
    const place = (name: string) => (at === '' ? name : `${at}/${name}`);
    return faultsOfUtterance(utterance, asks, questions).map((fault) => ({ ...fault, at: place(fault.at) }));
  });
  if (step.type === 'ask') return [...said, ...faultsOfKeys(step)];
  if (step.type === 'call_back' && (step.inMinutes === undefined) === (step.at === undefined))
    return [{ at: 'at', message: 'Give exactly one of inMinutes and at.' }];
  if (step.type !== 'set') return said;
  const { data = {}, disposition, converted } = step;
  if (Object.keys(data).length === 0 && disposition === undefined && converted === undefined)
    return [{ at: '', message: 'Give at least one of data, disposition and converted.' }];
  return Object.entries(data).flatMap(([name, text]) => {
    const message = questions.templateFault(text);
    return message === undefined ? [] : [{ at: `data/${name}`, message }];
  });
}

function faultsOfUtterance(
  { text, soundId }: Utterance,
  asks: ReadonlySet<string>,
  { templateFault, speechFault }: ScriptQuestions,
): ScriptFault[] {
  if ((text === undefined) === (soundId === undefined))
    return [{ at: 'text', message: 'Give exactly one of text and soundId.' }];
  if (text === undefined) return [];
  const message = templateFault(text) ?? speechFault ?? answerSaid(text, asks);
  return message === undefined ? [] : [{ at: 'text', message }];
}

/** What is said is made before the call, when nobody has answered yet. */
function answerSaid(text: string, asks: ReadonlySet<string>): string | undefined {
  const [, name] = [...text.matchAll(/\{\{\s*([^\s{}|]+)/g)].find(([, each]) => asks.has(each!)) ?? [];
  return name === undefined ? undefined : `The answer to ${name} can not be said: sentences are made before the call.`;
}

function faultsOfKeys({
  keys = '0123456789',
  length = 1,
  endKey,
}: Extract<ScriptStep, { type: 'ask' }>): ScriptFault[] {
  if (endKey !== undefined && keys.includes(endKey))
    return [{ at: 'endKey', message: `${endKey} is one of the keys, and can not end them.` }];
  if (endKey !== undefined && length === 1)
    return [{ at: 'endKey', message: 'One key needs none that ends it. Give a larger length.' }];
  return [];
}

function reachable(steps: readonly ScriptStep[], ids: ReadonlyMap<string, number>): Set<number> {
  const found = new Set(steps.length > 0 ? [0] : []);
  for (const index of found)
    for (const { to } of waysOf(steps, index)) if (to !== undefined && ids.has(to)) found.add(ids.get(to)!);
  return found;
}

/**
 * The steps that a call comes back to if nobody presses a key. A case of an answer is no such way if each round asks for it
 * anew: it has none then.
 */
function roundsWithoutKey(steps: readonly ScriptStep[], ids: ReadonlyMap<string, number>): Set<number> {
  const waysFrom = (index: number) =>
    waysOf(steps, index).flatMap(({ to, at, byKey }) => {
      const target = byKey || to === undefined ? undefined : ids.get(to);
      return target === undefined ? [] : [{ target, isCase: at.startsWith('cases/') }];
    });
  const from = (starts: Iterable<number>, next: (index: number) => number[]) => {
    const seen = new Set(starts);
    for (const index of seen) for (const each of next(index)) seen.add(each);
    return seen;
  };
  const next = (index: number) => {
    const step = steps[index]!;
    const asked = step.type === 'branch' ? ids.get(step.on) : undefined;
    const without = (at: number) => (at === asked ? [] : waysFrom(at).map(({ target }) => target));
    return waysFrom(index)
      .filter(({ target, isCase }) => !isCase || asked === undefined || from([target], without).has(index))
      .map(({ target }) => target);
  };
  return new Set([...steps.keys()].filter((start) => from(next(start), next).has(start)));
}
