export { default } from '../agent/vitest.config.ts';
