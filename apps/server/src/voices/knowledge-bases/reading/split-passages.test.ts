import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitPassages } from './split-passages.ts';

const split = (text: string) => [...splitPassages(text)];
const sentence = 'The clinic is open on weekdays from nine to five, except on holidays.';

test('short paragraphs share a passage, long ones get more than one', () => {
  expect(split('One.\n\nTwo.')).toEqual(['One.\n\nTwo.']);
  const passages = split(Array(60).fill(sentence).join(' '));
  expect(passages.length).toBe(5);
  for (const passage of passages) expect(passage).toMatch(/^The clinic.*holidays\.$/);
});

test('a heading or a page begins a passage, unless the last one is short', () => {
  const section = Array(6).fill(sentence).join(' ');
  expect(split(`${section}\n\n\nHours\n\n${section}\f${section}`)).toEqual([section, `Hours\n\n${section}`, section]);
  expect(split('One.\n\n\nTwo.\fThree.')).toEqual(['One.\n\nTwo.\n\nThree.']);
});

test('text without spaces is cut between characters', () => {
  const passages = split('😀'.repeat(2000));
  expect(passages.every((passage) => passage.isWellFormed() && passage.length <= 1200)).toBe(true);
  expect(passages.join('')).toBe('😀'.repeat(2000));
});

test('no passage is empty or too long, no word is cut, and nothing is lost', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((text) => !/\s/.test(text));
  const gap = fc.constantFrom(' ', '\n', '\n\n', '\n\n\n', '\f', '. ');
  fc.assert(
    fc.property(fc.array(fc.tuple(word, gap), { maxLength: 400 }), (pairs) => {
      const text = pairs.flat().join('');
      const passages = split(text);
      expect(passages.every((passage) => passage.length > 0 && passage.length <= 1200)).toBe(true);
      const words = (from: string) => from.split(/\s+/).filter((each) => each !== '');
      expect(passages.flatMap(words)).toEqual(words(text));
    }),
  );
});
