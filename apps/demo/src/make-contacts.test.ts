import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeContacts } from './make-contacts.ts';

test('contacts.csv is what make-contacts.ts writes', () => {
  expect(makeContacts()).toBe(readFileSync(path.join(import.meta.dirname, '../contacts.csv'), 'utf8'));
});
