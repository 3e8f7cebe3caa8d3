import { expect, test } from 'vitest';
import { TurnTaking } from './turn-taking.ts';

const speech = (from: number) => ({ type: 'speech', from }) as const;
const pause = (from: number, until: number) => ({ type: 'pause', from, until }) as const;

test.each<[string, (turns: TurnTaking) => void, boolean]>([
  ['nothing but the callee', () => {}, false],
  ['the agent, before the callee was heard to its end', (turns) => turns.agentSays(1000), false],
  ['the agent in the pause', (turns) => turns.agentSays(3000), true],
  ['the agent, whom the callee does not wait for', (turns) => turns.agentSays(5000), false],
  [
    'the agent, who has stopped',
    (turns) => {
      turns.agentSays(9000);
      turns.agentStops(3500);
    },
    true,
  ],
])('turns are taken, or not: %s', (_, agent, isSeen) => {
  const turns = new TurnTaking();
  turns.hear(speech(300));
  turns.hear(pause(300, 1200));
  agent(turns);
  expect(turns.isSeen).toBe(false);
  turns.hear(speech(4000));
  expect(turns.isSeen).toBe(isSeen);
});

test('the first words of the callee are no answer to the agent', () => {
  const turns = new TurnTaking();
  turns.agentSays(1000);
  turns.hear(speech(2000));
  expect(turns.isSeen).toBe(false);
});
