import { defineConfig } from 'vitest/config';

/** Long enough for a machine that does something else beside; where a condition holds, nobody waits. */
export default defineConfig({
  // Workspace packages run from their sources.
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    globalSetup: './test/global-setup.ts',
    // All files are about one workspace, and none leaves anything behind in its process.
    fileParallelism: false,
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
