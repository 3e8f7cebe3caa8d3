import { copyFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import manifest from './package.json' with { type: 'json' };

// What it has of the server is built into it, so that it brings neither the server along nor what that needs.
const packages = Object.keys(manifest.dependencies);
const bundle = await rolldown({
  input: ['src/index.ts', 'src/bin.ts'],
  platform: 'node',
  resolve: { conditionNames: ['source', 'import', 'node'] },
  external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
  treeshake: { moduleSideEffects: false },
});
rmSync('dist', { recursive: true, force: true });
const { output } = await bundle.write({ dir: 'dist', format: 'esm' });
const strangers = output
  .flatMap((chunk) => (chunk.type === 'chunk' ? Object.entries(chunk.modules) : []))
  .filter(([file, { renderedLength }]) => file.includes('/node_modules/') && renderedLength > 0);
if (strangers.length > 0)
  throw new Error(`Not of ours, and no dependency: ${strangers.map(([file]) => file).join(', ')}`);
copyFileSync(fileURLToPath(import.meta.resolve('@trunkline/openapi/openapi.json')), 'dist/openapi.json');
