import { expect, test } from 'vitest';
import { ToolCalls } from './tool-calls.ts';

test('a call of another session that has the name of one at work is answered too', async () => {
  const finish: ((answer: object) => void)[] = [];
  const tools = new ToolCalls(
    [{ name: 'note', description: 'Notes.', parameters: {} }],
    () => new Promise((resolve) => void finish.push(resolve)),
  );
  const [first, second] = [tools.use('note', '{"a":1}', 'call_1'), tools.use('note', '{"a":2}', 'call_1')];
  finish[0]!({ output: 'one', isDone: true });
  expect(await first).toMatchObject({ output: 'one', isWanted: false });
  expect(tools.areAtWork).toBe(true);
  finish[1]!({ output: 'two', isDone: true });
  expect(await second).toMatchObject({ output: 'two', isWanted: true });
  expect(tools.areAtWork).toBe(false);
});
