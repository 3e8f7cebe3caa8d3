import { expect, test } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

const at = { ms: 0 };
const asked = (
  limit: ReturnType<typeof createRateLimit>,
  keyId: string,
  more: { callId?: string; memberId?: string } = {},
) => {
  const headers: Record<string, string> = {};
  try {
    limit({ keyId, workspaceId: 'w', ...more }, headers);
  } catch (error) {
    return (error as Error).message;
  }
  return headers['RateLimit'];
};

test('the keys of a workspace share what it has, and more of them bring no more', () => {
  const limit = createRateLimit({ key: 3, workspace: 4 }, () => at.ms);
  expect(asked(limit, 'a')).toBe('"default";r=2;t=20, "workspace";r=3;t=15');
  asked(limit, 'a');
  asked(limit, 'a');
  expect(asked(limit, 'a')).toBe('Too many requests with this key. Try again in 20 seconds.');
  expect(asked(limit, 'a', { memberId: 'a' })).toMatch(/^Too many requests of yours\./);
  // What was refused took nothing of the workspace.
  expect(asked(limit, 'b')).toBe('"default";r=2;t=20, "workspace";r=0;t=60');
  const message = 'Too many requests of this workspace, by all keys and members together. Try again in 15 seconds.';
  for (const keyId of ['b', 'c']) expect(asked(limit, keyId)).toBe(message);
  expect(asked(limit, 'call', { callId: 'call' })).toBe('"default";r=2;t=20');
  at.ms = 15_000;
  expect(asked(limit, 'c')).toBe('"default";r=2;t=20, "workspace";r=0;t=60');
  expect(asked(limit, 'd')).toBe(message);
});

test('0 lifts one limit or both', () => {
  const of = (key: number, workspace: number) =>
    asked(
      createRateLimit({ key, workspace }, () => at.ms),
      'a',
    );
  expect(of(0, 2)).toBe('"workspace";r=1;t=30');
  expect(of(2, 0)).toBe('"default";r=1;t=30');
  expect(of(0, 0)).toBeUndefined();
});

test('beside another workspace what is left of a minute is spent one by one after the first fifty, and else at once', () => {
  const limit = createRateLimit({ key: 0, workspace: 3000 }, () => at.ms);
  const waits = (workspaceId: string, times: number) =>
    Array.from({ length: times }, () => limit({ keyId: 'a', workspaceId }, {}));
  expect(waits('noisy', 100)).toEqual(Array(100).fill(0));
  at.ms += 5000;
  expect(waits('quiet', 1)).toEqual([0]);
  expect(waits('noisy', 100)).toEqual([...Array(50).fill(0), ...Array.from({ length: 50 }, (_, of) => (of + 1) * 10)]);
  expect(waits('quiet', 1)).toEqual([0]);
  expect(waits('noisy', 1)).toEqual([510]);
  expect(limit({ keyId: 'a', workspaceId: 'noisy', callId: 'call' }, {})).toBe(0);
  at.ms += 1000;
  // Nobody else is there any more.
  expect(waits('noisy', 100)).toEqual(Array(100).fill(0));
});
