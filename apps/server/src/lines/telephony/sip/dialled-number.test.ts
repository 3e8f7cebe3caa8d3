import { expect, test } from 'vitest';
import { dialledNumber, readCaller, readNumber, spellingsOf } from './dialled-number.ts';

test.each([
  ['+4930901820', 'e164_plus', undefined, undefined, '+4930901820'],
  ['+4930901820', 'e164', undefined, undefined, '4930901820'],
  ['+4930901820', 'e164', undefined, '9', '94930901820'],
  ['+4930901820', 'national', 'DE', undefined, '030901820'],
  ['+14155550100', 'national', 'DE', undefined, '0014155550100'],
  ['+14155550100', 'national', 'US', undefined, '4155550100'],
  ['+4930901820', 'national', 'US', undefined, '0114930901820'],
  ['+4930901820', 'international_prefix', 'DE', undefined, '004930901820'],
  ['+4930901820', 'international_prefix', 'US', '8', '80114930901820'],
  ['+390612345678', 'national', 'IT', undefined, '0612345678'],
] as const)('%s as %s in %s behind %s is %s', (number, numberFormat, country, dialPrefix, wanted) => {
  const form = { numberFormat, ...(country && { country }), ...(dialPrefix && { dialPrefix }) };
  expect(dialledNumber(number, form)).toBe(wanted);
});

test.each([
  ['+4930901820', 'US', ['+4930901820']],
  ['030901820', 'DE', ['+4930901820']],
  ['4930901820', undefined, ['+4930901820']],
  ['4155550100', 'US', ['+14155550100', '+4155550100']],
  ['14155550100', 'US', ['+14155550100']],
  ['+14155550100;phone-context=x', undefined, ['+14155550100']],
  ['reception', 'DE', []],
  ['anonymous', undefined, []],
  [undefined, 'DE', []],
])('%s on a trunk of %s may be %j', (user, country, wanted) => {
  expect(readNumber(user, country)).toEqual(wanted);
});

test.each([
  ['+4930901820', 'DE', ['004930901820', '030901820', '30901820']],
  ['+390612345678', 'IT', ['00390612345678', '0612345678']],
  ['+14165550100', 'US', ['01114165550100', '4165550100']],
  ['+12125550100', 'DE', ['0012125550100']],
  ['+12125550100', undefined, []],
])('the spellings of %s in %s are read as it', (number, country, others) => {
  const spellings = spellingsOf(number, country);
  expect(spellings).toEqual([number, number.slice(1), ...others]);
  for (const spelling of spellings) expect(readNumber(spelling, country)).toContain(number);
});

test.each([
  ['+4930901820', undefined, '+14155550100', '+4930901820'],
  // Seen as +41 55557731, a number that there can't be.
  ['4155557731', undefined, '+14155550100', '+14155557731'],
  ['14155557731', undefined, '+14155550100', '+14155557731'],
  ['4930901820', undefined, '+4930901821', '+4930901820'],
  ['030901820', undefined, '+4930901821', '+4930901820'],
  ['442079460000', undefined, '+14155550100', '+442079460000'],
  ['4155557731', 'US', '+442079460000', '+14155557731'],
  ['442079460000', 'US', '+14155550100', '+442079460000'],
  ['101', undefined, '+14155550100', undefined],
  ['999999999999', undefined, '+14155550100', undefined],
  ['anonymous', 'US', '+14155550100', undefined],
  [undefined, 'US', '+14155550100', undefined],
])('%s on a trunk of %s calls %s as %s', (user, country, called, caller) => {
  expect(readCaller(user, country, called)).toBe(caller);
});
