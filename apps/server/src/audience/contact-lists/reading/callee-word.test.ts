import { describe, expect, it } from 'vitest';
import { consentPart, forbidsCalls, givesConsent, isDoNotCallName, readConsent, takeWord } from './callee-word.ts';
import { type ContactBatch, readContacts } from './read-contacts.ts';

async function* bytes(text: string) {
  yield new TextEncoder().encode(text);
}

/** What the rows of a file come to: number, the word, the consent; with what duplicates say. */
async function read(text: string, options: Parameters<typeof readContacts>[1] = { defaultCountry: 'US' }) {
  let batch: ContactBatch | undefined;
  for await (const each of readContacts(bytes(text), options)) batch ??= each;
  return {
    ...batch!,
    people: batch!.contacts.map(({ phoneNumber, doNotCall, consent }) => [phoneNumber % 100, doNotCall, consent]),
  };
}

const header = 'phone,DoNotCall';

describe('columns that say who is not to be called', () => {
  it.each([
    ...['DoNotCall', 'do_not_call', 'Do Not Call', 'DO-NOT-CALL', 'Do not call?', 'DNC', 'dnc', 'HasOptedOutOfCall'],
    ...['Unsubscribed', 'opted_out', 'Opted Out', 'opt-out', 'hs_do_not_call', 'unsubscribed_from_all', 'doNotCall'],
    ...['Do_Not_Call__c', 'DO NOT CALL (Y/N)', 'is_dnc', 'Opt Out of Calls', 'unsubscribed_at', 'Opted out at'],
  ])('%s is one', (title) => expect(isDoNotCallName(title)).toBe(true));

  it.each([
    'Call',
    'Do call',
    'Subscribed',
    'HasOptedOutOfEmail',
    'HasOptedOutOfFax',
    'dnc_notes',
    'Do Not Call Before',
    'unsubscribe_url',
    'constructor',
  ])('%s is none', (title) => expect(isDoNotCallName(title)).toBe(false));

  it('whatever is no clear no is the word, and a blank cell says nothing', () => {
    for (const yes of ['true', 'YES', '1', 'y', 'x', 'ja', 'Oui', 'WAHR', 'maybe', '2026-03-01', '✓', '-', 'unknown'])
      expect(forbidsCalls(yes), yes).toBe(true);
    for (const no of ['', '  ', 'false', 'No', '0', 'n', 'nein', 'FALSCH', 'non', 'faux', 'NÃO', 'нет'])
      expect(forbidsCalls(no), no).toBe(false);
  });

  it('are several, of which any counts; none of them is a variable', async () => {
    const { people, variables, words } = await read(
      'phone,DNC,Unsubscribed,city\n4155550101,no,yes,Rome\n4155550102,0,,Bonn\n4155550103,1,no,Nice\n',
    );
    expect(people.map(([line, word]) => [line, word])).toEqual([
      [1, true],
      [2, undefined],
      [3, true],
    ]);
    expect(variables).toEqual(['city']);
    expect(words.doNotCall).toEqual([2, 4]);
  });

  it('are never taken for the phone column', async () => {
    const { format } = await read('do_not_phone,number\nno,4155550101\n');
    expect(format.phoneColumn).toBe('number');
  });

  it('can be named, and then others are variables; a name that is none fails the file', async () => {
    const file = 'phone,Unsubscribed,Gesperrt\n4155550101,yes,no\n4155550102,no,ja\n';
    const named = await read(file, { defaultCountry: 'US', doNotCallColumns: ['gesperrt'] });
    expect(named.people.map(([, word]) => word)).toEqual([undefined, true]);
    expect(named.variables).toEqual(['Unsubscribed']);
    expect((await read(file, { defaultCountry: 'US', doNotCallColumns: [] })).words.doNotCall).toEqual([]);
    await expect(read(file, { defaultCountry: 'US', doNotCallColumns: ['Sperre'] })).rejects.toMatchObject({
      code: 'no_do_not_call_column',
      message: 'No column is called "Sperre", as doNotCallColumns says. Found: "phone", "Unsubscribed", "Gesperrt".',
    });
  });

  it('hold although the row of the person that is kept says otherwise, or its time zone is none', async () => {
    const { words, people, rejected } = await read(
      `${header},timezone,consent\n4155550101,no,,yes\n(415) 555-0101,yes,,no\n4155550102,yes,PST,\n4155550103,no,PST,\n`,
    );
    expect(people).toEqual([
      [1, undefined, { given: true }],
      [2, true, undefined],
    ]);
    expect(words).toMatchObject({ doNotCall: [3, 4], alsoForbidden: [14155550101], alsoRefused: [14155550101] });
    expect(rejected.map(({ row }) => row.row)).toEqual([5]);
  });
});

describe('consent', () => {
  it('is a yes only where it clearly says so, and one no is a no', () => {
    for (const yes of ['yes', 'TRUE', '1', 'ja', 'Oui', 'WAHR', 'sí']) expect(givesConsent(yes), yes).toBe(true);
    for (const no of ['no', 'x', 'maybe', 'withdrawn', 'yes?', '0', '2026-03-01'])
      expect(givesConsent(no), no).toBe(false);
    expect(givesConsent(' ')).toBeUndefined();
    expect(
      readConsent([
        ['given', 'yes'],
        ['given', 'no'],
        ['source', 'form'],
      ]),
    ).toEqual({ given: false, source: 'form' });
    expect(
      readConsent([
        ['given', ''],
        ['source', 'form'],
      ]),
    ).toBeUndefined();
  });

  it('has its source, time and purpose beside it; without a column of it these are variables', async () => {
    const file =
      'phone,Consent,consent_source,Consent Time,consent-purpose\n4155550101,yes,form,2026-03-01,reminders\n';
    const consent = { given: true, source: 'form', time: '2026-03-01', purpose: 'reminders' };
    expect((await read(file)).people).toEqual([[1, undefined, consent]]);
    expect((await read(file)).words.consents).toBe(1);
    expect((await read('phone,consent_source\n4155550101,form\n')).variables).toEqual(['consent_source']);
    expect(consentPart('toString')).toBeUndefined();
  });
});

it('variables by such names are read alike; what is no text stays', () => {
  expect(takeWord({ DNC: 'yes', consent: 'no', consent_source: 'call', city: 'Rome' })).toEqual({
    doNotCall: true,
    consent: { given: false, source: 'call' },
    rest: { city: 'Rome' },
  });
  expect(takeWord({ Unsubscribed: null, consent_source: 'call', dnc: 'no' })).toEqual({
    rest: { Unsubscribed: null, consent_source: 'call' },
  });
});
