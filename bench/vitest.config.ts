import { defineConfig } from 'vitest/config';

/** Long enough for a machine that does something else beside. */
export default defineConfig({ test: { include: ['*.test.ts'], testTimeout: 300_000 } });
