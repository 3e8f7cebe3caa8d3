import { describe, expect, it } from 'vitest';
import { judgeRecipients, type Recipient, type RecipientTerms, readRecipients } from './judge-recipients.ts';

const everyone = { notCalled: new Set<number>(), area: { countries: [], premiumRate: true } };
const judge = (recipients: readonly unknown[], terms: Partial<RecipientTerms> = {}, defaultCountry?: string) =>
  judgeRecipients(readRecipients(recipients, defaultCountry), { ...everyone, ...terms });
const codes = (recipients: readonly unknown[], terms: Partial<RecipientTerms> = {}) =>
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

  it('calls nobody of whom any metadata say that nobody is to call, and says so', () => {
    const { contacts, rejected } = judge([person(), person({ metadata: { 'Do Not Call': 'x' } })]);
    expect(contacts).toEqual([]);
    expect(rejected.map(({ code }) => code)).toEqual(['do_not_call', 'do_not_call']);
    expect(rejected[0]!.error).toContain('metadata');
    expect(codes([person({ metadata: { DNC: 'no', city: 'Rome' } })])).toEqual([]);
  });

  it('has no number call itself', () => {
    const { rejected } = judge([person()], { area: { ...everyone.area, caller: 14155550142 } });
    expect(rejected).toMatchObject([{ code: 'invalid_number', error: expect.stringContaining('can not call itself') }]);
    expect(codes([person()], { area: { ...everyone.area, caller: 14155550100 } })).toEqual([]);
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

  it.each<[string, unknown, string, string]>([
    ['no object', '+14155550142', '', 'This must be an object'],
    ['null', null, '', 'This must be an object'],
    ['no number', {}, '', 'phoneNumber is missing'],
    ['null for a number', { phoneNumber: null }, 'null', 'phoneNumber is null'],
    ['a number for text', { phoneNumber: 14155550142 }, '14155550142', 'phoneNumber is a number. Write it as text'],
    ['a list for text', { phoneNumber: ['+14155550142'] }, '["+14155550142"]', 'phoneNumber is a list'],
    ['an unknown field', person({ colour: 'red' } as never), '+14155550142', 'There is no field colour'],
    ['a name of another type', person({ name: 7 as never }), '+14155550142', 'name is not text'],
    ['a name too long', person({ name: 'n'.repeat(256) }), '+14155550142', 'name has over 255 characters'],
    ['an ID of another type', person({ externalId: null as never }), '+14155550142', 'externalId is not text'],
    ['a time zone of another type', person({ timezone: 7 as never }), '+14155550142', 'timezone is not text'],
  ])('rejects %s alone, shows what was sent, and says what is wrong', (_, wrong, phoneNumber, error) => {
    const { contacts, rejected } = judge([wrong, person({ phoneNumber: '+14155550143' })]);
    expect(contacts).toHaveLength(1);
    expect(rejected).toEqual([
      { index: 0, phoneNumber, code: 'invalid_recipient', error: expect.stringContaining(error) },
    ]);
  });

  it('tells time zones that there are not, and metadata of another form, from other faults', () => {
    const wrong = [person({ timezone: 'Mars/Olympus' }), person({ timezone: '' }), person({ metadata: [] as never })];
    const more = [person({ metadata: null as never }), person({ phoneNumber: '1'.repeat(65), externalId: 'a' })];
    expect(codes([...wrong, ...more]).map(([, code]) => code)).toEqual([
      ...['invalid_timezone', 'invalid_timezone', 'invalid_metadata'],
      ...['invalid_metadata', 'invalid_number'],
    ]);
    expect(judge(more).rejected[1]).toMatchObject({ phoneNumber: '1'.repeat(64), externalId: 'a' });
  });

  it('reads numbers as a contact file does once it knows a country, and calls one number once', () => {
    const written = ['030 901820', '0049 30 901820', '+49 (0)30 901821', '14155550142', '911', ''];
    const { contacts, rejected } = judge(
      written.map((phoneNumber) => ({ phoneNumber })),
      {},
      'DE',
    );
    expect(contacts.map(({ toNumber }) => toNumber)).toEqual([4930901820, 4930901821]);
    expect(rejected.map(({ index, code }) => [index, code])).toEqual([
      [1, 'duplicate'],
      ...[3, 4, 5].map((index) => [index, 'invalid_number']),
    ]);
    expect(rejected[1]!.error).toContain('+14155550142');
    expect(judge([person()], {}, 'DE').contacts).toHaveLength(1);
  });
});
