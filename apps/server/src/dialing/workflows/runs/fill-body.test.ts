import { expect, test } from 'vitest';
import { fillBody } from './fill-body.ts';

const context = { name: 'Ada", "admin": true, "x": "\\ \n', age: 7, who: { first: 'Ada "A"' }, nothing: null };

test.each<[string, unknown]>([
  ['{"name": "{{name}}", "age": {{age}}}', { name: context.name, age: 7 }],
  ['{"a \\" {{age}}": "{{name}}", "b": "{{age}}"}', { 'a " 7': context.name, b: '7' }],
  ['["\\\\{{name}}", "{{who}}", "{{nothing}}"]', [`\\${context.name}`, '{"first":"Ada \\"A\\""}', '']],
  ['{"who": {{who}}, "{{age}}": 1}', { who: context.who, 7: 1 }],
])('what is filled in between the quotes of %s stays there', (text, expected) => {
  expect(JSON.parse(fillBody(text, context) as string)).toEqual(expected);
});

test('a text that is no JSON is filled in as it is, and one template alone is its value', () => {
  expect(fillBody('Hello "{{name}}"', context)).toBe(`Hello "${context.name}"`);
  expect(fillBody('{{who}}', context)).toEqual(context.who);
});
