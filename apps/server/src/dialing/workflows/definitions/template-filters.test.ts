import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillText, fillValue } from './fill-template.ts';
import { parseTemplates } from './parse-template.ts';
import { neededPaths, templatePaths } from './template-paths.ts';

const context = {
  phone_number: '+4930123456',
  perth_or_sydney: '+61491570006',
  universal: '+80012345678',
  timezone: 'America/New_York',
  abbreviation: 'PST',
  none: null,
  blank: '  ',
  zero: 0,
  no: false,
  tags: ['a'],
  appointment: '2026-11-20T09:30:00Z',
  there: '2026-10-24T12:00:00+02:00',
  nanoseconds: '2026-11-20T09:30:00.123456789-03:30',
  birthday: '2026-02-28',
  leap: '2028-02-29',
  late: '9999-12-31',
  last: '9999-12-31T23:30:00Z',
  first: '0001-01-01T00:30:00Z',
  year_0: '0000-12-31',
  small: '2026-11-20t09:30:00z',
  nowhere: '2026-11-20T09:30:00-00:00',
  soon: 'tomorrow',
  leap_second: '2016-12-31T23:59:60Z',
  zoned: '2026-11-20T09:30:00+01:00[Europe/Berlin]',
  short: '2026-11-20 09:30Z',
  no_day: '2026-02-30',
  long: 'x'.repeat(65),
};
const fill = (template: string) => fillValue(`{{${template}}}`, context);
const failure = (template: string) => {
  try {
    return { value: fill(template) };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { code, message };
  }
};

test.each([
  ['absent | default: "there"', 'there'],
  ['absent|default:\'say "hi"\'', 'say "hi"'],
  ['absent | default: ""', ''],
  ['absent.deep | default: "{{phone_number}} }}"', '{{phone_number}} }}'],
  ['none | default: "there"', 'there'],
  ['blank | default: "there"', 'there'],
  ['zero | default: "there"', 0],
  ['no | default: "there"', false],
  ['tags | default: "there"', ['a']],
  ['phone_number\n|\tdefault : "there" ', '+4930123456'],
  ['appointment | plus: "P1D"', '2026-11-21T09:30:00Z'],
  ['appointment | plus: "P1M" | minus: "PT2H30M"', '2026-12-20T07:00:00Z'],
  ['small | plus: "P1D"', '2026-11-21T09:30:00Z'],
  ['nowhere | plus: "P1D"', '2026-11-21T09:30:00+00:00'],
  ['birthday | format: date, "zh-Hant-TW"', '2026年2月28日'],
  ['there | plus: "P1D"', '2026-10-25T12:00:00+02:00'],
  ['there | in: "Europe/Berlin" | plus: "P1D"', '2026-10-25T12:00:00+01:00'],
  ['there | in: "Europe/Berlin" | plus: "PT24H"', '2026-10-25T11:00:00+01:00'],
  ['nanoseconds | minus: "PT0.000000009S"', '2026-11-20T09:30:00.12345678-03:30'],
  ['birthday | plus: "P1Y1D"', '2027-03-01'],
  ['leap | minus: "P1Y"', '2027-02-28'],
  ['birthday | in: phone_number', '2026-02-28'],
  ['appointment | in: phone_number', '2026-11-20T10:30:00+01:00'],
  ['appointment | in: "america/new_york"', '2026-11-20T04:30:00-05:00'],
  ['appointment | in: timezone | format: time', '4:30 AM'],
  ['appointment | in: phone_number | format: time', '10:30 AM'],
  ['appointment | in: phone_number | format: time, "de"', '10:30'],
  ['appointment | format: date', 'November 20, 2026'],
  ['appointment | format: datetime, "de-DE"', '20. November 2026 um 09:30'],
  ['appointment | in: "Pacific/Kiritimati" | plus: "PT1H" | format: weekday', 'Saturday'],
  ['birthday | format: weekday, "fr"', 'samedi'],
  ['absent | in: phone_number | format: time | default: "soon"', 'soon'],
  ['none | plus: "P1D" | default: "soon"', 'soon'],
  ['absent | default: "2026-01-01" | format: date', 'January 1, 2026'],
  ['appointment | in: absent, blank, "Asia/Tokyo" | format: time', '6:30 PM'],
  ['appointment | in: perth_or_sydney, timezone | format: time', '4:30 AM'],
  ['appointment | in: universal, "UTC" | format: time', '9:30 AM'],
  ['appointment | in: abbreviation, soon, timezone | format: time', '4:30 AM'],
  ['appointment | in: zero, "Asia/Tokyo" | format: time', '6:30 PM'],
])('{{%s}} is %j', (template, value) => {
  expect(parseTemplates(`{{${template}}}`).fault).toBeUndefined();
  expect(fill(template)).toEqual(value);
  expect(fillText(`<{{${template}}}>{{zero}}`, context)).toBe(
    `<${typeof value === 'object' ? JSON.stringify(value) : value}>0`,
  );
});

test.each([
  ['absent | plus: "P1D"', 'template_key_missing', 'The context has no value for absent.'],
  [
    'none | format: date',
    'invalid_time',
    'null is no time. Give an RFC 3339 time such as 2026-11-20T09:30:00Z, or a date',
  ],
  ['soon | format: date', 'invalid_time', '{{soon | format: date}}: "tomorrow" is no time. Give an RFC 3339 time'],
  ['zero | plus: "P1D"', 'invalid_time', '0 is no time.'],
  ['tags | plus: "P1D"', 'invalid_time', '["a"] is no time.'],
  ...['leap_second', 'zoned', 'short', 'no_day'].map((path): [string, string, string] => [
    `${path} | plus: "P1D"`,
    'invalid_time',
    'is no time. Give an RFC 3339 time',
  ]),
  ['birthday | plus: "PT2H"', 'invalid_time', '2026-02-28 is a date without a time, to which PT2H can not be added.'],
  ['birthday | minus: "PT2H"', 'invalid_time', '2026-02-28 is a date without a time, to which PT2H can not be added.'],
  ['birthday | format: datetime', 'invalid_time', '2026-02-28 is a date without a time. Format it as date or weekday.'],
  ['late | plus: "P1D"', 'invalid_time', '9999-12-31 and P1D leave the years 1 to 9999.'],
  ['last | in: "Asia/Tokyo"', 'invalid_time', '9999-12-31T23:30:00Z leaves the years 1 to 9999 in Asia/Tokyo.'],
  ['first | in: timezone', 'invalid_time', '0001-01-01T00:30:00Z leaves the years 1 to 9999 in America/New_York.'],
  ['year_0 | format: date', 'invalid_time', '"0000-12-31" is no time.'],
  ['appointment | in: absent', 'template_key_missing', 'The context has no value for absent.'],
  ['appointment | in: none, absent', 'template_key_missing', 'The context has no value for absent.'],
  [
    'appointment | in: abbreviation',
    'invalid_time_zone',
    '"PST": PST has more than one meaning. Write America/Los_Angeles or',
  ],
  [
    'appointment | in: soon',
    'invalid_time_zone',
    '"tomorrow": There is no such time zone. Give an IANA name such as Europe/Berlin.',
  ],
  [
    'appointment | in: long',
    'invalid_time_zone',
    `"${'x'.repeat(64)}": There is no such time zone. Give an IANA name such as Europe/Berlin, or a phone number in E.164 form.`,
  ],
  ['appointment | in: zero', 'invalid_time_zone', '"0": There is no such phone number. Give one in E.164 form'],
  ['appointment | in: perth_or_sydney', 'invalid_time_zone', '+61491570006 may be in '],
  [
    'appointment | in: perth_or_sydney',
    'invalid_time_zone',
    'where clocks differ. Name what counts then: in: perth_or_sydney, "Europe/Berlin".',
  ],
  ['appointment | in: universal', 'invalid_time_zone', 'No time zone is known of +80012345678.'],
  [
    'appointment | in: abbreviation, absent',
    'invalid_time_zone',
    '"PST": PST has more than one meaning. Write America/Los_Angeles or Asia/Manila. Name what counts then: in: absent, "Europe/Berlin".',
  ],
])('{{%s}} fails with %s', (template, code, message) => {
  expect(failure(template)).toEqual({ code, message: expect.stringContaining(message) });
});

test.each([
  ['a | defalt: "x"', 'There is no filter defalt. There are default, plus, minus, in and format.'],
  ['a | constructor: "x"', 'There is no filter constructor.'],
  ['a | __proto__', 'There is no filter __proto__.'],
  ['a|b', 'There is no filter b.'],
  ['a | default', 'default takes one text in quotes, such as default: "there".'],
  ['a | default: there', 'default takes one text in quotes'],
  ['a | default: "x", "y"', 'default takes one text in quotes'],
  ['a | default:', 'After default: stands a path, or a text in quotes of at most 500 characters.'],
  ['a | default: "x', 'After default: stands'],
  [`a | default: "${'x'.repeat(501)}"`, 'After default: stands'],
  ['a | default: "x" y', 'Write filters as {{key | default: "text"}}, and close them with }}.'],
  ['a |', 'Write filters as'],
  ['a | | default: "x"', 'Write filters as'],
  ['a | plus: "1 day"', 'plus takes one ISO 8601 duration without a sign, of at most 1000 years: plus: "P1D"'],
  ['a | plus: "-P1D"', 'plus takes one ISO 8601 duration'],
  ['a | plus: "P"', 'plus takes one ISO 8601 duration'],
  ['a | plus: P1D', 'plus takes one ISO 8601 duration'],
  ['a | minus: "P1001Y"', 'minus takes one ISO 8601 duration'],
  ['a | minus: "P99999999999999999999Y"', 'minus takes one ISO 8601 duration'],
  ['a | in', 'in takes a time zone, such as in: "Europe/Berlin", or a path, such as in: phone_number.'],
  ['a | in: "Mars/Olympus"', 'There is no such time zone. Give an IANA name such as Europe/Berlin.'],
  ['a | in: "PST"', 'PST has more than one meaning. Write America/Los_Angeles or Asia/Manila.'],
  ['a | in: "phone_number"', 'as Europe/Berlin. A path stands without quotes: in: phone_number.'],
  ['a | in: Europe/Berlin', 'Put it in quotes: in: "Europe/Berlin".'],
  ['a | in: b, utc', 'Put it in quotes: in: "UTC".'],
  ['a | in: “Europe/Berlin”', 'Write straight quotes, " or \'.'],
  ['a | default: “there”', 'Write straight quotes, " or \'.'],
  ['a | default: ‘you all’', 'Write straight quotes, " or \'.'],
  ['a | in: b, c, d, e, f', 'in takes at most 4 of them.'],
  ['a | format', 'format takes date, time, datetime or weekday, and then a locale if you like: format: time, "de".'],
  ['a | format: "time"', 'format takes date'],
  ['a | format: constructor', 'format takes date'],
  ['a | format: time, de', 'format takes date'],
  ['a | format: time, "xx"', 'There is no locale xx. Give one such as "de" or "en-GB".'],
  ['a | format: time, "de-u-ca-buddhist"', 'There is no locale de-u-ca-buddhist.'],
  ['a | format: time, "no locale"', 'There is no locale no locale.'],
  ['a | format: time | plus: "P1D"', 'plus can not follow format, which makes text of a time. Put format last.'],
  [
    'a | default: "soon" | format: date',
    'format needs a time, and the default before it is none. Put default last, or give',
  ],
  [`a${' | default: "x"'.repeat(9)}`, 'A template takes at most 8 filters.'],
])('{{%s}} is refused', (template, message) => {
  const { fault } = parseTemplates(`Hello {{${template}}}!`);
  expect(fault).toContain(`{{${template}}}`.slice(0, 40));
  expect(fault).toContain(message);
});

test('what was published before there were filters may name a key with a | in it', () => {
  expect(fillText('{{a|b}} {{|c}}', { 'a|b': 1, '|c': 2 })).toBe('1 2');
});

test('the paths of filters are known, and which of all a template needs', () => {
  const text = '{{a.b | default: "x"}} {{c | in: d.e}} {{f | in: g, h, "UTC"}} {{i | in: j, k | default: "x"}}';
  expect(templatePaths(text)).toEqual(['a.b', 'c', 'd.e', 'f', 'g', 'h', 'i', 'j', 'k']);
  expect(neededPaths(text)).toEqual(['c', 'd.e', 'f', 'k']);
});

const instants = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const zones = fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC');

test('on the clock of any zone it is the same instant, and reads as Intl has it', () => {
  fc.assert(
    fc.property(instants, zones, (at, zone) => {
      const there = fillText(`{{at | in: "${zone}"}}`, { at });
      expect(Date.parse(there)).toBe(Date.parse(at));
      expect(fillText('{{at | in: zone | format: time, "en-GB"}}', { at, zone })).toBe(
        new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: zone }).format(new Date(at)),
      );
      expect(fillText('{{there | plus: "PT90M" | minus: "PT1H30M"}}', { there })).toBe(there);
    }),
  );
});

test('any text is taken apart without loss, and any filters but end well or with a step error', () => {
  const words = [
    '{{',
    '}}',
    '|',
    ':',
    ',',
    '"',
    "'",
    ' ',
    'a',
    'at',
    'default',
    'plus',
    'in',
    'format',
    'time',
    'P1D',
    '__proto__',
    'UTC',
    '{',
  ];
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...words), { maxLength: 24 }).map((all) => all.join('')),
      (text) => {
        const { parts } = parseTemplates(text);
        expect(parts.map((part) => (typeof part === 'string' ? part : part.source)).join('')).toBe(text);
        try {
          fillText(text, { a: 'x', at: '2026-11-20T09:30:00Z' });
        } catch (error) {
          expect(['template_key_missing', 'invalid_time', 'invalid_time_zone']).toContain(
            (error as { code: string }).code,
          );
        }
      },
    ),
    { numRuns: 5000 },
  );
});

test.each([
  '{{',
  '{{a | default: "',
  '{{a|default:"',
  '{{a | in: "UTC", ',
  '{{a | in:b,c,d,e',
  '{{a ',
  '{{ ',
  '{{a|',
  '{{a | default: "{{a | default: \'',
  '" | default: "x" {{a | ',
])('a hostile text of many %j is read in steps that grow with its length', (piece) => {
  const read = (length: number) => {
    const text = piece.repeat(length / piece.length);
    const before = process.cpuUsage();
    parseTemplates(text);
    const { user } = process.cpuUsage(before);
    return user;
  };
  read(32_768);
  const [few, many] = [read(65_536), read(524_288)];
  expect(many).toBeLessThan(Math.max(few, 10_000) * 40);
});
