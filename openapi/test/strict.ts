import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { tool } from './bundle.ts';

const STRICT = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  strict: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  types: [],
};

/** Generates a client into a folder, which it makes, and expects that the compiler finds nothing wrong. */
export async function compileStrictly(out: string, generate: (out: string) => Promise<unknown>): Promise<void> {
  await mkdir(out);
  await generate(out);
  const project = join(out, 'tsconfig.json');
  await writeFile(project, JSON.stringify({ compilerOptions: STRICT, include: ['.'] }));
  await expect(tool('tsc', '-p', project).catch(({ stdout }) => stdout)).resolves.toMatchObject({ stdout: '' });
}
