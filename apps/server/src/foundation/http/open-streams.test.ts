import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createOpenStreams } from './open-streams.ts';

const asMany = (streams: ReturnType<typeof createOpenStreams>, keyId: string, workspaceId: string) => {
  const leave: (() => void)[] = [];
  let code: string | undefined;
  while (!code) {
    try {
      leave.push(streams.enter({ keyId, workspaceId }));
    } catch (error) {
      code = (error as { code: string }).code;
    }
  }
  return { leave, count: leave.length, code };
};

test('a key alone has a third, its workspace half, and who comes next finds some', () => {
  const streams = createOpenStreams(new Registry(), 900);
  expect(asMany(streams, 'key1', 'noisy')).toMatchObject({ count: 300, code: 'rate_limited' });
  expect(asMany(streams, 'key2', 'noisy')).toMatchObject({ count: 100, code: 'rate_limited' });
  for (let key = 3; key < 20; key += 1) asMany(streams, `key${key}`, 'noisy');
  expect(streams.underWay()).toBe(450);
  expect(asMany(streams, 'own', 'quiet')).toMatchObject({ count: 150, code: 'rate_limited' });
  for (let key = 0; key < 99; key += 1) asMany(streams, `own${key}`, 'quiet');
  expect(streams.underWay()).toBe(675);
});

test('where nothing is left it is the process that is full; what is closed is free again', () => {
  const streams = createOpenStreams(new Registry(), 3);
  const { leave, count } = asMany(streams, 'key', 'noisy');
  expect(count).toBe(1);
  const other = streams.enter({ keyId: 'own', workspaceId: 'quiet' });
  const third = streams.enter({ keyId: 'third', workspaceId: 'third' });
  expect(asMany(streams, 'late', 'late')).toMatchObject({ count: 0, code: 'unavailable' });
  for (const end of [...leave, other, third]) end();
  expect(streams.underWay()).toBe(0);
  expect(asMany(streams, 'late', 'late').count).toBe(1);
});
