import { configDefaults, defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** The tests that install tools from the registry. */
export default defineConfig({
  test: { ...config.test, include: ['**/*.long.test.ts'], exclude: configDefaults.exclude },
});
