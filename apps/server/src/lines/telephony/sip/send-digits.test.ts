import type { Call, CallEnd } from '@trunkline/sip';
import { afterEach, expect, test, vi } from 'vitest';
import type { Sound } from '../../conversation/sound.ts';
import { sendDigits } from './send-digits.ts';

/** A call whose peer answers INFO by a function of the key. */
function callTo(answer: (key: string) => Promise<number | undefined>) {
  const keys: string[] = [];
  let end = () => {};
  const ended = new Promise<CallEnd>((resolve) => {
    end = () => resolve({ kind: 'hung_up', by: 'remote', reasons: [] });
  });
  const call = {
    ended,
    info: (_type: string, body: string) => {
      const key = /Signal=(.)/.exec(body)![1]!;
      keys.push(key);
      return answer(key);
    },
  } as unknown as Call;
  return { keys, end, send: (digits: string) => sendDigits('info', call, digits, undefined as unknown as Sound) };
}

afterEach(() => void vi.useRealTimers());

test('a key that is refused is the last one', async () => {
  const { keys, send } = callTo(async (key) => (key === '2' ? 415 : 200));
  expect(await send('123')).toEqual({ isSent: false, reason: 'refused' });
  expect(keys).toEqual(['1', '2']);
});

test('a key that is not answered in time is the last one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { keys, send } = callTo(() => new Promise(() => {}));
  const sent = send('12');
  await vi.advanceTimersByTimeAsync(10_400);
  expect(await sent).toEqual({ isSent: false, reason: 'refused' });
  expect(keys).toEqual(['1']);
});

test('the end of the call is not waited through', async () => {
  const { keys, end, send } = callTo(() => new Promise(() => {}));
  const sent = send('12');
  end();
  expect(await sent).toEqual({ isSent: false, reason: 'call_ended' });
  expect(keys).toEqual(['1']);
});
