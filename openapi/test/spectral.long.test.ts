import rulesets from '@stoplight/spectral-rulesets';
import { expect, test } from 'vitest';
import { bundleContract } from './bundle.ts';
import { complaints, SCHEMA_EXAMPLES } from './spectral.ts';

test('Spectral finds the examples of schemas right', async () => {
  const { contract, remove } = await bundleContract();
  const schemas = { ...contract, paths: {}, webhooks: {} };
  const only = { extends: [[rulesets.oas, 'off']], rules: { [SCHEMA_EXAMPLES]: 'warn' } };
  expect(await complaints(schemas, only)).toEqual([]);
  const wrong = { ...schemas, components: { schemas: { Wrong: { type: 'string', example: 7 } } } };
  expect((await complaints(wrong, only)).join()).toContain('components.schemas.Wrong.example');
  await remove();
});
