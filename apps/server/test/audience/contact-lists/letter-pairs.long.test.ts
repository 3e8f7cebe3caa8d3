import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { letterPairs, lettersFile } from './files/make-letter-pairs.ts';

test('the pairs of letters are those that their script makes', () => {
  expect(letterPairs()).toBe(readFileSync(lettersFile, 'utf8'));
});
