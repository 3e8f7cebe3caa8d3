import { expect, test } from 'vitest';
import { anyAgent } from './directory.ts';

test('without a directory every ID is an agent of that name', async () => {
  expect(await anyAgent.resolve('agent_reception', 'w')).toEqual({ id: 'agent_reception', name: 'agent_reception' });
});
