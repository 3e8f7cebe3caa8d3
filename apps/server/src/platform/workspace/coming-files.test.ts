import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createComingFiles } from './coming-files.ts';

test('requests that bring files are shared by workspaces', () => {
  const coming = createComingFiles(new Registry());
  const held = Array.from({ length: 500 }, () => coming.enter('noisy', 1000));
  expect(() => coming.enter('noisy', 1000)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  coming.enter('quiet', 1000).leave(true);
  held[0]!.leave(false);
  coming.enter('noisy', 1000);
});
