import { defineConfig } from 'vitest/config';
import { shared } from './vitest.config.ts';

/** The tests that take minutes: more seeds, more rows. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    globalSetup: ['test/global-setup.ts'],
    include: ['**/*.long.test.ts'],
    exclude: ['**/node_modules/**'],
    maxWorkers: 1,
  },
});
