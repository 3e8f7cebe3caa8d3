import { isTimestamp } from '../../../foundation/values/timestamp.ts';
import type { BranchNode, Condition, Context } from '../definitions/definition.ts';
import { fillValue, fillValues, wholeTemplate } from '../definitions/fill-template.ts';
import { lookUp } from '../definitions/look-up.ts';
import { StepError } from '../definitions/step-error.ts';

/** Where a `branch` leads to, and what of its conditions could not be compared. */
export interface BranchTaken {
  next: string;
  note?: string;
}

/**
 * The node that a `branch` leads to: that of the first case whose condition holds, else `next`. A condition whose sides can't
 * be compared does not hold, and the note says why.
 * @throws StepError where a template has no value (but under `exists` and `not_exists`), and `invalid_condition`
 */
export function evaluateBranch(node: BranchNode, context: Context): BranchTaken {
  let note: string | undefined;
  const found = node.cases.find(({ when }) => {
    const result = holds(when, context);
    if (typeof result === 'boolean') return result;
    note ??= result.incomparable;
    return false;
  });
  return { next: found?.next ?? node.next, ...(note !== undefined && { note }) };
}

/**
 * Whether a condition holds, or why its sides can't be compared. Greater and less compare numbers with numbers, or texts that
 * JSON would read as one, RFC 3339 times and dates with their like, and text with text by code units; of all else nothing is
 * greater or less. Equality compares as numbers only if one side is a number, since IDs may be longer than a number is exact;
 * all else as text, where `null` is the empty text. `exists` wants a template, and holds where its path leads to anything but
 * `null`.
 */
export function holds({ left, operator, right }: Condition, context: Context): boolean | { incomparable: string } {
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
      return inOrder(a, b, (order) => order > 0);
    case 'greater_or_equal':
      return inOrder(a, b, (order) => order >= 0);
    case 'less_than':
      return inOrder(a, b, (order) => order < 0);
    case 'less_or_equal':
      return inOrder(a, b, (order) => order <= 0);
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

/** What an order knows: numbers, instants, dates and texts, each kind by itself. */
type Ordered = { kind: 'number' | 'time' | 'date' | 'text'; value: number | string };

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

function orderedOf(value: unknown): Ordered | undefined {
  const number = numberOf(value);
  if (number !== undefined) return { kind: 'number', value: number };
  if (typeof value !== 'string') return undefined;
  if (isTimestamp(value)) return { kind: 'time', value: Date.parse(value) };
  return { kind: DATE.test(value) ? 'date' : 'text', value };
}

const LONGEST_SHOWN = 64;
const shown = (value: unknown): string => JSON.stringify(value).slice(0, LONGEST_SHOWN);

/** Whether two values stand in an order, or why they can't: `n/a` is neither more nor less than 1,000. */
function inOrder(a: unknown, b: unknown, fits: (order: number) => boolean): boolean | { incomparable: string } {
  const [one, two] = [orderedOf(a), orderedOf(b)];
  if (!one || !two || one.kind !== two.kind)
    return { incomparable: `${shown(a)} and ${shown(b)} can not be compared: ${nameOf(one)} and ${nameOf(two)}.` };
  return fits(one.value === two.value ? 0 : one.value < two.value ? -1 : 1);
}

const nameOf = (ordered: Ordered | undefined): string =>
  ordered ? `a ${ordered.kind}` : 'neither number, time nor text';
