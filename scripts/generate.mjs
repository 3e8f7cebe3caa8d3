import path from 'node:path';
import { node, root, runStep } from './process.mjs';

/** Writes the files that are made from others: the types of the contract for the client and the server, the schema's dump and its rows' types, time zones by numbers, the pages of docs that show the contract, the tables of measurements. Resolves to an exit code. */
export async function generate() {
  const types = await runStep(node, ['--run', 'generate'], { cwd: path.join(root, 'packages/client') });
  const closed = await runStep(node, ['--run', 'generate'], { cwd: path.join(root, 'apps/server') });
  const dump = ['--conditions=source', 'migrations/dump-schema.ts'];
  const schema = await runStep(node, dump, { cwd: path.join(root, 'apps/server') });
  const zones = ['generate/zones-by-prefix.ts', 'src/lines/phone-numbers/generated/zones-by-prefix.ts'];
  const prefixes = await runStep(node, zones, { cwd: path.join(root, 'apps/server') });
  const pages = await runStep(node, ['build-pages.ts'], { cwd: path.join(root, 'openapi') });
  const tables = await runStep(node, ['--conditions=source', 'write-readme.ts'], { cwd: path.join(root, 'bench') });
  return types.code || closed.code || schema.code || prefixes.code || pages.code || tables.code;
}
