import { describe, expect, it } from 'vitest';
import {
  judgeRecipients,
  type Recipient,
  type RecipientTerms,
  readNumbers,
  recipientFaults,
} from './judge-recipients.ts';

const everyone = { notCalled: new Set<number>(), area: { countries: [], premiumRate: true } };
const judge = (recipients: Recipient[], terms: Partial<RecipientTerms> = {}) =>
  judgeRecipients(recipients, readNumbers(recipients), { ...everyone, ...terms });
const codes = (recipients: Recipient[], terms: Partial<RecipientTerms> = {}) =>
  judge(recipients, terms).rejected.map(({ index, code }) => [index, code]);
const person = (given: Partial<Recipient> = {}): Recipient => ({ phoneNumber: '+14155550142', ...given });

describe('judgeRecipients', () => {
  it.each([
    '',
    '4155550142',
    '+1 415 555 0142',
    '+04155550142',
    '+1911',
    '+112',
    '+49116117',
    '+141555501421',
    '+1415555014',
  ])('takes %j for no number that can be called', (phoneNumber) => {
    expect(codes([person({ phoneNumber })])).toEqual([[0, 'invalid_number']]);
  });

  it('calls the first of those with one number that can be called, not the first at all', () => {
    const wrong = { metadata: { a: 1 } };
    const { contacts, rejected } = judge([person(wrong), person({ name: 'Ada' }), person({ name: 'Eve' })]);
    expect(contacts.map(({ name }) => name)).toEqual(['Ada']);
    expect(rejected.map(({ index, code }) => [index, code])).toEqual([
      [0, 'invalid_metadata'],
      [2, 'duplicate'],
    ]);
    expect(codes([person(), person()], { notCalled: new Set([14155550142]) })).toEqual([
      [0, 'do_not_call'],
      [1, 'do_not_call'],
    ]);
  });

  it('asks for each number whether its country may be called', () => {
    const area = { countries: [['DE']], premiumRate: false };
    const { contacts, rejected } = judge([person(), person({ phoneNumber: '+4930123456' })], { area });
    expect(contacts.map(({ toNumber }) => toNumber)).toEqual([4930123456]);
    expect(rejected[0]).toMatchObject({ code: 'country_not_allowed', phoneNumber: '+14155550142' });
  });

  it.each(['+19002341234', '+447012345678', '+8816123456789', '+870773111632', '+8821612345', '+979123456789'])(
    'refuses %s, which costs more, unless such numbers are allowed, and says what they are',
    (phoneNumber) => {
      const { rejected } = judge([person({ phoneNumber })], { area: { countries: [], premiumRate: false } });
      expect(rejected).toMatchObject([{ code: 'country_not_allowed' }]);
      for (const kind of ['premium-rate', 'personal', 'satellite', 'international', 'premiumRateAllowed']) {
        expect(rejected[0]!.error).toContain(kind);
      }
      expect(judge([person({ phoneNumber })]).contacts).toHaveLength(1);
    },
  );

  it('keeps the time zone that the recipient says; that of the number is known by the number', () => {
    const { contacts } = judge([
      person(),
      person({ phoneNumber: '+4930123456' }),
      person({ phoneNumber: '+4930123457', timezone: 'america/new_york' }),
    ]);
    expect(contacts.map(({ timezone }) => timezone)).toEqual([null, null, 'America/New_York']);
  });

  it('takes metadata up to its bounds, characters counted once, and nothing beyond', () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, '']));
    const fits = [many(64), { ['n'.repeat(64)]: '😀'.repeat(4096) }, {}];
    const numbered = (metadata: Record<string, unknown>, at: number) =>
      person({ phoneNumber: `+1415555${5000 + at}`, metadata });
    expect(judge(fits.map(numbered)).contacts.map(({ metadata }) => metadata)).toEqual([fits[0], fits[1], null]);
    const tooMuch = [many(65), { ['n'.repeat(65)]: '' }, { '': '' }, { a: 'v'.repeat(4097) }, { a: null }, { a: {} }];
    expect(codes(tooMuch.map(numbered))).toEqual(tooMuch.map((_, at) => [at, 'invalid_metadata']));
  });

  it('gives contacts IDs that rise in the order of the request', () => {
    const recipients = Array.from({ length: 1000 }, (_, at) => person({ phoneNumber: `+1415${5_560_000 + at}` }));
    const ids = judge(recipients).contacts.map(({ id }) => id);
    expect(ids).toHaveLength(1000);
    expect(ids).toEqual(ids.toSorted());
  });
});

describe('recipientFaults', () => {
  it('names each recipient whose time zone there is not', () => {
    const recipients = [person({ timezone: 'Mars/Olympus' }), person({ timezone: 'UTC' }), person()];
    expect(recipientFaults(recipients).map(({ path }) => path)).toEqual(['/body/recipients/0/timezone']);
  });
});
