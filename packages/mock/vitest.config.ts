import { defineConfig } from 'vitest/config';

/** Workspace packages run from their sources. Where a condition holds, nobody waits. */
export default defineConfig({
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    // No file leaves anything behind in its process, and to load it all anew takes a third of the time.
    isolate: false,
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
