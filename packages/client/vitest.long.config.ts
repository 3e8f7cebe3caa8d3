import { configDefaults, defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** What installs other runtimes and older compilers from the registry. */
export default defineConfig({
  test: { ...config.test, include: ['**/*.long.test.ts'], exclude: configDefaults.exclude },
});
