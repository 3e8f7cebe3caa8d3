import { configDefaults, defineConfig } from 'vitest/config';

/** How long a condition may take on a machine that stalls; where it holds, nobody waits. */
const PATIENCE_MS = 30_000;

/** What the test processes of every project share. */
export const shared = {
  // Workspace packages run from their sources; this holds in the test processes and in their worker threads too.
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    pool: 'forks',
    // Tests wait as much as they compute: on two cores three at a time take two thirds of the time of two.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
} as const;

const last = 'test/contract/every-status.test.ts';
/** It puts another module in the place of one that other files use. */
const mocking = 'src/jobs/every.test.ts';
const exclude = [...configDefaults.exclude, '**/*.long.test.ts', last];

export default defineConfig({
  ...shared,
  test: {
    globalSetup: ['test/global-setup.ts'],
    projects: [
      // `pnpm test:long` runs the long ones.
      {
        ...shared,
        test: { ...shared.test, name: 'server', include: ['test/**/*.test.ts', mocking], exclude },
      },
      // Pure rules, which leave nothing behind: a process of its own for each file would take longer than they do.
      {
        ...shared,
        test: { ...shared.test, name: 'rules', include: ['src/**/*.test.ts'], exclude: [mocking], isolate: false },
      },
      // It looks at what the others saw.
      { ...shared, test: { ...shared.test, name: 'last', include: [last], sequence: { groupOrder: 1 } } },
    ],
  },
});
