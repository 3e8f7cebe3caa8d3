import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { listTransitions } from './list.ts';
import { statesBefore, uploadTransitions } from './upload.ts';

const contract = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('@trunkline/openapi/openapi.json'), 'utf8'),
);

test('the contract shows the same moves', () => {
  const { ContactListUploadStatus, ContactListStatus } = contract.components.schemas;
  expect(ContactListUploadStatus['x-transitions']).toEqual(uploadTransitions);
  expect(ContactListStatus['x-transitions']).toEqual(listTransitions);
});

test('the states before a state', () => {
  expect(statesBefore('expired')).toEqual(['pending', 'validated']);
  expect(statesBefore('failed')).toEqual(['validating', 'processing']);
  expect(statesBefore('pending')).toEqual([]);
});
