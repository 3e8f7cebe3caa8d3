import { defineConfig } from 'vitest/config';

/** Workspace packages run from their sources. Where a condition holds, nobody waits. */
export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  test: { testTimeout: 300_000, expect: { poll: { timeout: 120_000 } } },
});
