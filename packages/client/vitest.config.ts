import { configDefaults, defineConfig } from 'vitest/config';

/** Long enough for a machine that does something else beside; where a condition holds, nobody waits. */
export default defineConfig({
  test: {
    // No file leaves anything behind in its process, and to load it all anew takes a third of the time.
    isolate: false,
    exclude: [...configDefaults.exclude, '**/*.long.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
