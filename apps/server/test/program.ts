import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { until } from './until.ts';

/** What tests run in processes of their own, again and again. */
const programs = {
  main: path.join(import.meta.dirname, '../src/main.ts'),
  'chaos-server': path.join(import.meta.dirname, 'chaos/chaos-server.ts'),
  'dialer-process': path.join(import.meta.dirname, 'crash/dialer-process.ts'),
};

/** These have many files, and are nothing but functions; what else is installed stays where it is. */
const TAKEN_IN = /^(@trunkline|kysely|libphonenumber-js|temporal-polyfill|temporal-utils|uuid)(\/|$)/;

/** As in the processes of tests (vitest.config.ts): a tenth of what a server takes that runs for seconds. */
const THRIFTY = ['--single-threaded-gc', '--max-optimized-bytecode-size=4000'];

/**
 * What Node is given to run a program of the sources. Within a test run it is made into one file first, and once: to find
 * and read its thousand files takes half of a server's start.
 */
export async function program(name: keyof typeof programs): Promise<string[]> {
  const folder = process.env['TEST_PROGRAMS'];
  if (!folder) return ['--conditions=source', programs[name]];
  await mkdir(path.dirname(folder), { recursive: true });
  const isFirst = await mkdir(folder).then(
    () => true,
    () => false,
  );
  const made = path.join(folder, 'made');
  if (isFirst) await make(path.join(folder, 'draft'), made);
  await until(() => existsSync(made));
  return [...THRIFTY, '--conditions=source', path.join(made, `${name}.js`)];
}

/** Threads and files are found beside the source that names them, as ever. */
async function make(draft: string, made: string): Promise<void> {
  const bundle = await rolldown({
    input: programs,
    platform: 'node',
    logLevel: 'silent',
    resolve: { conditionNames: ['source', 'import', 'node'] },
    external: (id) => !/^[./]/.test(id) && !TAKEN_IN.test(id),
    plugins: [
      {
        name: 'places',
        transform: (code, id) =>
          code
            .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
            .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(id)))
            .replaceAll('import.meta.filename', JSON.stringify(id)),
      },
    ],
  });
  await bundle.write({ dir: draft, format: 'esm' });
  await rename(draft, made);
}
