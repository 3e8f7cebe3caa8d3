import { expect, inject, test } from 'vitest';
import { statusesNamed, statusesSeen } from './statuses.ts';

test('the contract names statuses to see', () => {
  expect(statusesNamed()).toEqual(expect.arrayContaining(['buyPhoneNumber 402', 'streamCampaignEvents 204']));
});

// The last file of a run (see vitest.config.ts): all others have noted what they saw.
test.runIf(inject('statuses').wholeRun)('a test has seen every status that the contract names', () => {
  const seen = statusesSeen();
  expect(statusesNamed().filter((each) => !seen.has(each))).toEqual([]);
});
