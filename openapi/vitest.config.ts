import { configDefaults, defineConfig } from 'vitest/config';

/** Long enough for a machine that does something else beside; where a condition holds, nobody waits. */
export default defineConfig({
  test: {
    globalSetup: './test/global-setup.ts',
    // No file leaves anything behind in its process.
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    exclude: [...configDefaults.exclude, '**/*.long.test.ts'],
  },
});
