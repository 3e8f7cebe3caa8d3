import { expect, test } from 'vitest';
import type { BranchNode, Condition } from '../definitions/definition.ts';
import { evaluateBranch, holds } from './evaluate-branch.ts';

const context = {
  tier: 'vip',
  amount: 120.5,
  text_amount: '120.50',
  id: '90071992547409931',
  paid: false,
  none: null,
  tags: ['gold', 7],
  due: '2026-11-20T09:30:00.000Z',
  gate: 'vip',
};

type Right = Condition['right'];
const cases: [left: string, operator: Condition['operator'], right: Right, result: boolean][] = [
  ['{{tier}}', 'equals', 'vip', true],
  ['{{tier}}', 'equals', 'VIP', false],
  ['{{tier}}', 'equals', '{{gate}}', true],
  ['{{tier}}', 'not_equals', 'vip', false],
  ['{{amount}}', 'equals', '120.5', true],
  ['{{text_amount}}', 'equals', 120.5, true],
  ['{{text_amount}}', 'equals', '120.5', false],
  ['{{id}}', 'equals', '90071992547409932', false],
  ['{{paid}}', 'equals', false, true],
  ['{{paid}}', 'equals', 'false', true],
  ['{{none}}', 'equals', '', true],
  ['{{amount}}', 'equals', 'many', false],
  ['{{tags}}', 'equals', '["gold",7]', true],
  ['{{text_amount}}', 'greater_than', '9', true],
  ['{{amount}}', 'greater_than', 120.5, false],
  ['{{amount}}', 'greater_or_equal', 120.5, true],
  ['{{amount}}', 'less_than', 121, true],
  ['{{amount}}', 'less_or_equal', '120.5', true],
  ['{{tier}}', 'less_than', 'w', true],
  ['{{due}}', 'less_than', '2026-11-21T00:00:00.000Z', true],
  ['{{due}}', 'greater_than', '2026-11-20T10:00:00+01:00', true],
  ['2026-11-20', 'less_than', '2026-12-01', true],
  ['{{tier}}', 'contains', 'i', true],
  ['{{tags}}', 'contains', 'gold', true],
  ['{{tags}}', 'contains', 'gol', false],
  ['{{tags}}', 'contains', '7', true],
  ['{{amount}}', 'contains', '.5', true],
  ['{{tier}}', 'starts_with', 'vi', true],
  ['{{tier}}', 'ends_with', 'vi', false],
  ['{{tier}}', 'ends_with', 'ip', true],
  ['{{tier}}', 'in', ['basic', 'vip'], true],
  ['{{tier}}', 'in', ['{{gate}}'], true],
  ['{{amount}}', 'in', [1, 2], false],
  ['gold', 'in', '{{tags}}', true],
  ['{{tier}}', 'exists', undefined, true],
  ['{{none}}', 'exists', undefined, false],
  ['{{absent.key}}', 'exists', undefined, false],
  ['{{absent.key}}', 'not_exists', undefined, true],
  ['{{paid}}', 'not_exists', undefined, false],
];

test.each(cases)('%s %s %j is %s', (left, operator, right, result) => {
  expect(holds({ left, operator, ...(right !== undefined && { right }) }, context)).toBe(result);
});

const branch = (...whens: Condition[]): BranchNode => ({
  id: 'b',
  type: 'branch',
  title: 'B',
  cases: whens.map((when, index) => ({ when, next: `case-${index}` })),
  next: 'otherwise',
});

test('the first case that holds decides, and the ones after it are not looked at', () => {
  const no: Condition = { left: '{{tier}}', operator: 'equals', right: 'basic' };
  const yes: Condition = { left: '{{tier}}', operator: 'equals', right: 'vip' };
  const broken: Condition = { left: '{{absent}}', operator: 'equals', right: 'vip' };
  expect(evaluateBranch(branch(no, yes, yes, broken), context)).toEqual({ next: 'case-1' });
  expect(evaluateBranch(branch(no), context)).toEqual({ next: 'otherwise' });
  expect(() => evaluateBranch(branch(no, broken), context)).toThrow('The context has no value for absent.');
});

test.each<[left: string, right: string | number, why: string]>([
  ['n/a', 1000, '"n/a" and 1000 can not be compared: a text and a number.'],
  ['{{none}}', 1000, 'null and 1000 can not be compared: neither number, time nor text and a number.'],
  ['{{due}}', 'tomorrow', '"2026-11-20T09:30:00.000Z" and "tomorrow" can not be compared: a time and a text.'],
  ['{{due}}', '2026-11-20', '"2026-11-20T09:30:00.000Z" and "2026-11-20" can not be compared: a time and a date.'],
  ['{{tags}}', 'gold', '["gold",7] and "gold" can not be compared: neither number, time nor text and a text.'],
])('%s and %j are in no order: no case holds, and the step says why', (left, right, why) => {
  const whens = (['greater_than', 'less_or_equal'] as const).map((operator): Condition => ({ left, operator, right }));
  expect(evaluateBranch(branch(...whens), context)).toEqual({ next: 'otherwise', note: why });
  const yes: Condition = { left: '{{tier}}', operator: 'equals', right: 'vip' };
  expect(evaluateBranch(branch(...whens, yes), context)).toEqual({ next: 'case-2', note: why });
});

test.each<Condition>([
  { left: 'tier', operator: 'exists' },
  { left: '{{tier}}', operator: 'equals' },
  { left: '{{tier}}', operator: 'in', right: 'vip' },
])('%j is no condition', (when) => {
  expect(() => holds(when, context)).toThrow(expect.objectContaining({ code: 'invalid_condition' }));
});
