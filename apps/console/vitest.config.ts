import { defineConfig } from 'vitest/config';

/** Long enough for a machine that does something else beside: a build of the console takes seconds. */
export default defineConfig({
  test: { include: ['src/**/*.test.ts', 'test/**/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 },
});
