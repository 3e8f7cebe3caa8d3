import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type KeyHolder, watchKeys } from './watch-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const principal = { keyId: 'key', hash: '', workspaceId: 'workspace', permissions: [] };
const holder = (credential: string, recognize: KeyHolder['recognize']) => ({
  ...{ credential, recognize, stream: { end: vi.fn() } },
});

test('a key is looked at once for all its streams, which end with it, and no others do', async () => {
  const keys = watchKeys();
  let isRevoked = false;
  const recognize = vi.fn(() => (isRevoked ? undefined : principal));
  const holders = Array.from({ length: 50 }, () => holder('own', recognize));
  const other = holder('other', () => principal);
  for (const each of [...holders, other]) keys.add(each);
  await vi.advanceTimersByTimeAsync(400);
  expect(recognize).toHaveBeenCalledTimes(1);
  keys.remove(holders[0]!);
  isRevoked = true;
  await vi.advanceTimersByTimeAsync(400);
  expect(recognize).toHaveBeenCalledTimes(2);
  expect(holders.map(({ stream }) => stream.end.mock.calls.length)).toEqual([0, ...Array(49).fill(1)]);
  expect(other.stream.end).not.toHaveBeenCalled();
  for (const each of [...holders, other]) keys.remove(each);
  expect(vi.getTimerCount()).toBe(0);
});

test('where nothing can be known of a key its streams stay', async () => {
  const keys = watchKeys();
  const away = holder('own', () => Promise.reject(new Error('away')));
  keys.add(away);
  await vi.advanceTimersByTimeAsync(2000);
  expect(away.stream.end).not.toHaveBeenCalled();
  keys.remove(away);
});
