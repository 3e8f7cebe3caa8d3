import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillText, fillValue, fillValues } from './fill-template.ts';
import { lookUp } from './look-up.ts';
import { parseTemplates } from './parse-template.ts';
import { templatePaths } from './template-paths.ts';

const context = {
  phone_number: '+14155550142',
  none: null,
  crm: { body: { tier: 'vip', tags: ['a', { deep: 7 }] }, status: 200 },
  markup: '<b>&{{phone_number}}</b>',
};

/** A context whose object has own keys that would reach its prototype, as JSON makes them. */
const poisoned = JSON.parse('{"__proto__":{"a":1},"constructor":{"name":"x"},"deep":{"prototype":1}}');

const codeOf = (act: () => unknown) => {
  try {
    return { value: act() };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { code, message };
  }
};

test('templates in text are filled in, by dotted paths, with no escaping and no second look', () => {
  expect(fillText('{{phone_number}} and {{ crm.body.tags.1.deep }}{{crm.body.tier}}', context)).toBe(
    '+14155550142 and 7vip',
  );
  expect(fillText('{{markup}}', context)).toBe('<b>&{{phone_number}}</b>');
  expect(fillText('{{none}}|{{crm.body.tags}}', context)).toBe('|["a",{"deep":7}]');
  expect(fillText('{{crm.status}}$&', context)).toBe('200$&');
});

test.each([
  'absent',
  'crm.absent',
  'phone_number.length',
  'phone_number.0',
  'crm.body.tags.length',
  'crm.body.tags.01',
  'crm.body.tags.-1',
  'crm.body.tags.9',
  'none.a',
  'crm..body',
  'toString',
  'crm.hasOwnProperty',
  '__proto__',
  'crm.__proto__',
  'constructor.name',
  'crm.body.tags.constructor',
])('%s is an absent key, and named', (path) => {
  const missing = { code: 'template_key_missing', message: `The context has no value for ${path}.` };
  expect(codeOf(() => fillText(`a {{${path}}}`, context))).toEqual(missing);
  expect(codeOf(() => fillValue(`{{${path}}}`, context))).toEqual(missing);
});

test('keys that reach a prototype do nothing, even where they are own keys', () => {
  for (const path of ['__proto__.a', '__proto__', 'constructor.name', 'deep.prototype'])
    expect(lookUp(poisoned, path)).toBeUndefined();
  const filled = fillValues(JSON.parse('{"__proto__":{"polluted":"{{phone_number}}"},"a":1}'), context);
  expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
  expect((filled as { polluted?: string }).polluted).toBeUndefined();
});

test('a single template keeps the type of its value, anything around it makes text', () => {
  const values = {
    n: '{{crm.status}}',
    t: '{{crm.status}} ',
    list: ['{{none}}', { tags: '{{crm.body.tags}}' }],
    b: true,
  };
  expect(fillValues(values, context)).toEqual({
    n: 200,
    t: '200 ',
    list: [null, { tags: ['a', { deep: 7 }] }],
    b: true,
  });
});

test('the output is capped, also where a template repeats what is large', () => {
  const large = { a: 'x'.repeat(40_000), list: Array(40_000).fill('é') };
  expect(fillText('{{a}}', large)).toHaveLength(40_000);
  for (const template of ['{{a}}{{a}}', '{{list}}', '{{a}}'.repeat(800)])
    expect(codeOf(() => fillText(template, large)).code).toBe('template_too_large');
  expect(codeOf(() => fillValue('{{list}}', large)).code).toBe('template_too_large');
  expect(codeOf(() => fillValues(Array(7).fill('{{a}}'), large)).code).toBe('template_too_large');
  expect(fillValues(Array(6).fill('{{a}}'), large)).toHaveLength(6);
});

test('what looks like a template and is none is found', () => {
  expect(templatePaths('{{a}} {{ b.0.c }} {{a b}} {c} {{}}')).toEqual(['a', 'b.0.c']);
  for (const broken of ['{{first name}}', '{{}}', 'a {{', '{{{a}}}x{{', '{{{{a}}}}'])
    expect(parseTemplates(broken).fault).toContain('{{');
  for (const whole of ['{{a}}', '{ {a} }', '{"a":{"b":1}}', '{{{a}}{', ''])
    expect(parseTemplates(whole).fault).toBeUndefined();
});

test('without filters a text is filled in as a plain replacement would, whatever stands around', () => {
  const pieces = fc.constantFrom('{', '{{', '}', '}}', ' ', '\n', 'a', 'b.c', '0', '"', "'", ':', ',', '$&', 'é', '|');
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
      (text) => {
        const values = { a: 'A', b: { c: '{{a}}' }, 'a|a': 'old' };
        const plainly = () =>
          text.replace(/\{\{\s*([^\s{}]+)\s*\}\}/g, (_, path: string) => {
            const value = lookUp(values, path);
            if (value === undefined) throw new Error(`The context has no value for ${path}.`);
            return String(value);
          });
        const { code, ...same } = codeOf(() => fillText(text, values));
        const { code: none, ...asBefore } = codeOf(plainly);
        expect(same).toEqual(asBefore);
      },
    ),
    { numRuns: 2000 },
  );
});

const key = fc.constantFrom('a', 'b', '0', '1', '__proto__', 'constructor', 'prototype', 'length', 'toString', '');
const paths = fc.array(key, { minLength: 1, maxLength: 4 }).map((keys) => keys.join('.'));
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 'text', '{{a}}'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value;
const contexts = fc.dictionary(key, json).map((value) => value as Record<string, unknown>);

test('a path leads to own JSON values only', () => {
  const valuesIn = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(valuesIn)] : [value];
  fc.assert(
    fc.property(contexts, paths, (values, path) => {
      const found = lookUp(values, path);
      if (found === undefined) return;
      expect(valuesIn(values)).toContain(found);
      expect(path).not.toMatch(/__proto__|constructor|prototype/);
    }),
  );
});

test('filling in changes nothing but templates, and gives the same shape', () => {
  const shapeOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shapeOf);
    if (typeof value !== 'object' || value === null) return typeof value === 'string' ? 'text' : value;
    return Object.entries(value).map(([name, each]) => [name, shapeOf(each)]);
  };
  fc.assert(
    fc.property(json, (value) => {
      const before = JSON.stringify(value);
      expect(shapeOf(fillValues(value, { a: 'filled' }))).toEqual(shapeOf(value));
      expect(JSON.stringify(value)).toBe(before);
    }),
  );
});

test('any text and any value of a key give that value once, or a step error', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (before, value, after) => {
      fc.pre(!/[{}]/.test(before + after));
      expect(fillText(`${before}{{a}}${after}`, { a: value })).toBe(before + value + after);
    }),
  );
});
