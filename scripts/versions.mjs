// Gives the packages their next versions and changelogs, of .changeset/, and tells them to what else bears a version.
// CONTRIBUTING.md, "Releases".
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, runStep } from './process.mjs';

/** Files that name a package's version, and what stands before it there. */
const bearers = [
  ['openapi', 'openapi/openapi.yaml', /^(info:\n {2}title: .*\n {2}version: ).*$/m],
  ['packages/client', 'packages/client/src/environment.ts', /(@trunkline\/client\/)[^']+/],
];

const { code } = await runStep('changeset', ['version']);
if (code !== 0) process.exit(code);
for (const [folder, file, before] of bearers) {
  const { version } = JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
  const text = readFileSync(path.join(root, file), 'utf8');
  if (!before.test(text)) throw new Error(`${file} names no version where it did.`);
  writeFileSync(path.join(root, file), text.replace(before, `$1${version}`));
}

// What servers of this version need of the schema, so that the next release leaves it to them.
const schema = readFileSync(path.join(root, 'apps/server/migrations/schema.txt'), 'utf8');
const kept = path.join(root, 'apps/server/migrations/released');
mkdirSync(kept, { recursive: true });
if (readdirSync(kept).every((file) => readFileSync(path.join(kept, file), 'utf8') !== schema)) {
  const { version } = JSON.parse(readFileSync(path.join(root, 'apps/server/package.json'), 'utf8'));
  writeFileSync(path.join(kept, `${version}.txt`), schema);
}
