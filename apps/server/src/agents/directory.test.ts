import { expect, test } from 'vitest';
import { anyAgent, readAgent } from './directory.ts';

test('without a directory every ID is an agent of that name', async () => {
  expect(await anyAgent.resolve('agent_reception')).toEqual({ id: 'agent_reception', name: 'agent_reception' });
});

test('an agent has an ID and a name, and unknown fields are left out', () => {
  const agent = { id: 'a', name: 'Anna', sipUri: 'sip:anna@example.com', livekitAgentName: 'anna' };
  expect(readAgent({ ...agent, secret: 'x' })).toEqual(agent);
  expect(readAgent({ id: 'a', name: 'Anna' })).toEqual({ id: 'a', name: 'Anna' });
});

test.each([
  null,
  'a',
  {},
  { id: 'a' },
  { id: '', name: 'Anna' },
  { id: 7, name: 'Anna' },
  { id: 'a', name: 'A', sipUri: 5 },
])('%j is no agent', (value) => {
  expect(readAgent(value)).toBeUndefined();
});
