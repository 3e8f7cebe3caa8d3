import rulesets from '@stoplight/spectral-rulesets';
import { expect, test } from 'vitest';
import { bundleContract, type Contract, operationsOf } from './bundle.ts';
import { complaints, SCHEMA_EXAMPLES } from './spectral.ts';

/** Spectral looks at what is referred to at each place that does, which takes a minute: once is enough. */
function withEachErrorOnce(contract: Contract): Contract {
  const copy = structuredClone(contract);
  const seen = new Set<string>();
  for (const { operation } of operationsOf(copy)) {
    for (const [status, { $ref }] of Object.entries(operation.responses)) {
      if ($ref && seen.has($ref)) delete operation.responses[status];
      if ($ref) seen.add($ref);
    }
  }
  return copy;
}

test('Spectral has no warning', async () => {
  const { contract, remove } = await bundleContract();
  const rules = { [SCHEMA_EXAMPLES]: 'off' };
  expect(await complaints(withEachErrorOnce(contract), { extends: [rulesets.oas], rules })).toEqual([]);
  await remove();
});

test('Spectral finds the examples of schemas right', async () => {
  const { contract, remove } = await bundleContract();
  const schemas = { ...contract, paths: {}, webhooks: {} };
  const only = { extends: [[rulesets.oas, 'off']], rules: { [SCHEMA_EXAMPLES]: 'warn' } };
  expect(await complaints(schemas, only)).toEqual([]);
  const wrong = { ...schemas, components: { schemas: { Wrong: { type: 'string', example: 7 } } } };
  expect((await complaints(wrong, only)).join()).toContain('components.schemas.Wrong.example');
  await remove();
});
