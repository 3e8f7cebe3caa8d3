import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  // Workspace packages run from their sources; this holds in the test processes and in their worker threads too.
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    globalSetup: ['test/global-setup.ts'],
    // `pnpm test:long` runs those.
    exclude: [...configDefaults.exclude, '**/*.long.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
