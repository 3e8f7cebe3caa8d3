import { expect, test } from 'vitest';
import { scrub, scrubText } from './number-in-text.ts';
import { personOf } from './spellings.ts';

const ADA = personOf(14155550142, ['US']);
const EMMA = personOf(4930901820, ['DE']);

test.each([
  ['+14155550142', '+9990000000'],
  ['Call 14155550142.', 'Call 9990000000.'],
  ['0014155550142 or 01114155550142', '9990000000 or 9990000000'],
  ['+1 (415) 555-0142, +1.415.555.0142', '+9990000000, +9990000000'],
  ['sip:+14155550142@trunk', 'sip:+9990000000@trunk'],
  ['+14155550142bob', '+9990000000bob'],
  // In national form.
  ['Call (415) 555-0142 or 415.555.0142', 'Call 9990000000 or 9990000000'],
  ['4155550142', '9990000000'],
  // Behind other digits it may be a part of a longer number.
  [
    '2026-03-10 415 555 0142, 011 52 4155550142, 91 4155550142',
    '2026-03-10 415 555 0142, 011 52 4155550142, 91 4155550142',
  ],
  ['+52 1 4155550142', '+52 1 4155550142'],
  // Longer numbers, and parts of IDs.
  ['+141555501423', '+141555501423'],
  ['914155550142', '914155550142'],
  ['41555501423', '41555501423'],
  ['room_0a14155550142', 'room_0a14155550142'],
  ['14155550142ab', '14155550142ab'],
  ['c4155550142', 'c4155550142'],
  ['12-415-555-0142, 415-555-0142-33', '12-415-555-0142, 415-555-0142-33'],
  // Those of other people.
  ['+14155550143', '+14155550143'],
  ['415 555 0143', '415 555 0143'],
  ['+4155550142, +44 415 555 0142, +44 (0)415 555 0142', '+4155550142, +44 415 555 0142, +44 (0)415 555 0142'],
  ['004155550142, 011 4155550142, 0044 415 5550142', '004155550142, 011 4155550142, 0044 415 5550142'],
  ['0415 555 0142', '0415 555 0142'],
])('%s becomes %s', (text, without) => expect(scrubText(text, ADA)).toBe(without));

test.each([
  ['030 901820, 030/90 18 20, (030) 901820', '9990000000, 9990000000, 9990000000'],
  ['+49 (0)30 901820, 0049 30 901820', '+9990000000, 9990000000'],
  ['+31 30 901820, +31 (0)30 901820', '+31 30 901820, +31 (0)30 901820'],
  // Too short to be surely theirs.
  ['30901820', '30901820'],
])('%s becomes %s', (text, without) => expect(scrubText(text, EMMA)).toBe(without));

test('a national form that another country of the workspace reads as another number stays', () => {
  const person = personOf(33612345678, ['FR', 'ES']);
  expect(scrubText('612 345 678, 06 12 34 56 78', person)).toBe('612 345 678, 9990000000');
  const nobodyThere = personOf(33612345678, ['US']);
  expect(scrubText('612 345 678, 06 12 34 56 78', nobodyThere)).toBe('612 345 678, 06 12 34 56 78');
});

test('a national form whose digits with a plus are a number of another country of the workspace stays', () => {
  const person = personOf(14692000001, ['US', 'SE']);
  const text = '46 92 00 00 01, 4692000001, (469) 200-0001';
  expect(scrubText(text, person)).toBe(text);
  expect(scrub({ id: 4692000001 }, person)).toEqual({ id: 4692000001 });
});

test('a rejected recipient who was read as another is left alone', () => {
  const other = { phoneNumber: '612 345 678', number: 34612345678, externalId: 'eva' };
  expect(scrub([other], personOf(33612345678, ['FR']))).toEqual([other]);
});

test('a call of the number loses what it says of the person, and keeps what is counted', () => {
  const call = {
    toNumber: '+14155550142',
    status: 'completed',
    variables: { name: 'Ada' },
    metadata: { patient: '7' },
    externalId: 'ada-7',
    result: { converted: true, summary: 'Ada is ill.', data: { age: 36 } },
  };
  const left = { toNumber: '+9990000000', status: 'completed', result: { converted: true } };
  expect(scrub({ data: call }, ADA)).toEqual({ data: left });
});

test('a call of another number loses the number only', () => {
  const call = { toNumber: '+14155550143', variables: { friend: '+1 415 555 0142', age: 14155550142, id: 4155550142 } };
  const left = { toNumber: '+14155550143', variables: { friend: '+9990000000', age: 9990000000, id: 9990000000 } };
  expect(scrub(call, ADA)).toEqual(left);
});

test('a run whose context holds the number loses its context', () => {
  for (const phone of ['14155550142', '(415) 555-0142', 4155550142]) {
    const run = { status: 'completed', context: { phone, first: 'Ada' }, output: { said: 'yes' } };
    expect(scrub(run, ADA)).toEqual({ status: 'completed', context: {} });
  }
});

test('a recipient who was rejected loses the number in whatever form it was sent', () => {
  const sent = { phoneNumber: '30-90-18-20', externalId: 'emma', code: 'duplicate' };
  const erased = { phoneNumber: '+9990000000', code: 'duplicate' };
  expect(scrub([{ ...sent, number: 4930901820 }], EMMA)).toEqual([erased]);
  expect(scrub([{ ...sent, phoneNumber: '(030) 901820' }], EMMA)).toEqual([{ ...erased, phoneNumber: '9990000000' }]);
});
