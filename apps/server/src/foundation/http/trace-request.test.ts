import { expect, test } from 'vitest';
import { subjectOf } from './trace-request.ts';

const uuid = '01932f3c-8a7e-7bd0-a1b2-c3d4e5f60718';
const campaign = 'cmp_01932f3c8a7e7bd0a1b2c3d4e5f60718';
const batch = 'bat_01932f3c8a7e7bd0a1b2c3d4e5f60718';

test.each([
  ['a campaign that is made', {}, { body: { data: { id: campaign } } }, true],
  ['a batch that is made', {}, { body: { batchId: batch } }, true],
  ['one that is started', { campaignId: campaign }, { body: { data: { id: campaign } } }, false],
  ['one that is started, without an answer', { campaignId: campaign }, {}, false],
  ['an export of its calls', {}, { body: { data: { id: 'exp_1', filters: { campaignId: campaign } } } }, false],
  ['a request that is sent again', {}, { body: { batchId: batch }, headers: { 'Idempotent-Replayed': 'true' } }, false],
])('the trace of %s is its own, and begins with the request that made it', (_, params, answer, isNew) => {
  expect(subjectOf('POST', params, answer)).toEqual({ uuid, isNew });
});

test('what changes nothing, and what is about nothing that has a trace, is no part of one', () => {
  expect(subjectOf('GET', { campaignId: campaign }, { body: {} })).toBeUndefined();
  expect(subjectOf('POST', {}, { body: { data: { id: 'list_1' } } })).toBeUndefined();
});
