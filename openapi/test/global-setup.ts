import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { tool } from './bundle.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The contract as it is written, in one file. */
    closed: string;
  }
}

/** Redocly takes a second for it, so all files of tests share one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-closed-'));
  const closed = join(folder, 'closed.json');
  await tool('redocly', 'bundle', '--config', '../redocly.yaml', 'openapi.yaml', '-o', closed);
  project.provide('closed', closed);
  return () => rm(folder, { recursive: true });
}
