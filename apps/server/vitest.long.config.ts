import { defineConfig } from 'vitest/config';
import usual from './vitest.config.ts';

/** The tests that take minutes: more seeds, more rows. */
export default defineConfig({
  ...usual,
  test: { ...usual.test, include: ['**/*.long.test.ts'], exclude: ['**/node_modules/**'], maxWorkers: 1 },
});
