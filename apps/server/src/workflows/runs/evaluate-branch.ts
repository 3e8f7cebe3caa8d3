import type { BranchNode, Condition, Context } from '../definitions/definition.ts';
import { fillValue, fillValues, lookUp, wholeTemplate } from '../definitions/fill-template.ts';
import { StepError } from '../definitions/step-error.ts';

/**
 * The node that a `branch` leads to: that of the first case whose condition holds, else `next`.
 * @throws StepError where a template has no value (but under `exists` and `not_exists`), and `invalid_condition`
 */
export function evaluateBranch(node: BranchNode, context: Context): string {
  return node.cases.find(({ when }) => holds(when, context))?.next ?? node.next;
}

/**
 * Whether a condition holds. Greater and less compare as numbers where both sides are numbers or texts that JSON would
 * read as one; equality does only if one of them is a number, since IDs may be longer than a number is exact. All else
 * compares as text, by code units, so that times in UTC of one form compare by time; `null` is the empty text.
 * `exists` wants a template, and holds where its path leads to anything but `null`.
 */
export function holds({ left, operator, right }: Condition, context: Context): boolean {
  if (operator === 'exists' || operator === 'not_exists') {
    const path = wholeTemplate(left);
    if (path === undefined)
      throw new StepError('invalid_condition', `${operator} needs one template, such as {{key}}.`);
    return ((lookUp(context, path) ?? null) !== null) === (operator === 'exists');
  }
  if (right === undefined) throw new StepError('invalid_condition', `${operator} needs a right side.`);
  const a = fillValue(left, context);
  const b: unknown = fillValues<unknown>(right, context);
  switch (operator) {
    case 'equals':
      return isEqual(a, b);
    case 'not_equals':
      return !isEqual(a, b);
    case 'greater_than':
      return compare(a, b) > 0;
    case 'greater_or_equal':
      return compare(a, b) >= 0;
    case 'less_than':
      return compare(a, b) < 0;
    case 'less_or_equal':
      return compare(a, b) <= 0;
    case 'contains':
      return Array.isArray(a) ? a.some((item) => isEqual(item, b)) : textOf(a).includes(textOf(b));
    case 'starts_with':
      return textOf(a).startsWith(textOf(b));
    case 'ends_with':
      return textOf(a).endsWith(textOf(b));
    case 'in':
      if (!Array.isArray(b)) throw new StepError('invalid_condition', 'in needs an array on its right side.');
      return b.some((item) => isEqual(a, item));
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const numberOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined;
};

/** Objects and arrays as JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null ? '' : JSON.stringify(value);
}

function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'number' && typeof b !== 'number') return textOf(a) === textOf(b);
  const one = numberOf(a);
  return one !== undefined && one === numberOf(b);
}

/** Below, at or above 0. */
function compare(a: unknown, b: unknown): number {
  const [one = textOf(a), two = textOf(b)] = asNumbers(a, b);
  if (one === two) return 0;
  return one < two ? -1 : 1;
}

function asNumbers(a: unknown, b: unknown): [number, number] | [] {
  const [one, two] = [numberOf(a), numberOf(b)];
  return one === undefined || two === undefined ? [] : [one, two];
}
