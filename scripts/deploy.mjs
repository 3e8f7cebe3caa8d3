// Puts the server into a folder of its own, with all that it needs, the pinned Node among it: `npm run deploy -- /opt/trunkline`.
// What stood there goes once the new one is whole.
import { copyFileSync, existsSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { pnpm } from './pnpm.mjs';
import { node, runStep, say } from './process.mjs';

const PROGRAM = 'trunkline-server';
const START = `#!/bin/sh
# Written by \`npm run deploy\`.
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" --max-semi-space-size=8 "$here/dist/src/bin.js" "$@"
`;

async function step(what, command, args) {
  const { code } = await runStep(command, args);
  if (code !== 0) throw new Error(`${what} could not be done.`);
}

/** @param {string[]} words the folder, as a whole path */
export async function deploy([given = '']) {
  if (!path.isAbsolute(given)) throw new Error('Usage: npm run deploy -- /opt/trunkline');
  const folder = path.resolve(given);
  if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(path.join(folder, PROGRAM)))
    throw new Error(`${folder} holds something else than a server, which would be lost. Name a new folder.`);
  // Whoever runs it is another user.
  process.umask(0o022);
  const [next, before] = [`${folder}.trunkline-next`, `${folder}.trunkline-before`];
  rmSync(next, { recursive: true, force: true });
  say('Building the server …');
  await step('The build', 'turbo', ['run', 'build', '--filter=@trunkline/server', '--output-logs=errors-only']);
  const { code, output } = await pnpm(['--filter=@trunkline/server', 'deploy', '--prod', next]);
  if (code !== 0) throw new Error(`${output.trim()}\nThe server could not be put into ${folder}.`);
  // At its first start the embedded PostgreSQL links its libraries, where a service may write nothing.
  const binaries = pathToFileURL(path.join(next, 'dist/src/foundation/database/postgres/binaries.js'));
  await step('The database', node, ['-e', `import('${binaries}').then((made) => made.postgresBinaries())`]);
  copyFileSync(realpathSync(node), path.join(next, 'node'));
  writeFileSync(path.join(next, PROGRAM), START, { mode: 0o755 });
  refuseIfLost(folder, next);
  rmSync(before, { recursive: true, force: true });
  if (existsSync(folder)) renameSync(folder, before);
  renameSync(next, folder);
  rmSync(before, { recursive: true, force: true });
  const start = `DATA_DIR=/var/lib/trunkline ${path.join(folder, PROGRAM)} serve`;
  say(`The server is in ${folder}. Start it with its data somewhere else, such as: ${start}`);
  return 0;
}

/** Throws if the folder holds what the new one doesn't, such as the data of a server that was started there. */
function refuseIfLost(folder, next) {
  const made = new Set(readdirSync(next));
  const lost = existsSync(folder) ? readdirSync(folder).filter((name) => !made.has(name)) : [];
  if (lost.length === 0) return;
  rmSync(next, { recursive: true, force: true });
  throw new Error(
    `${folder} holds ${lost.join(', ')}, which would be lost. Move it away; data of a server (.data) into the folder that DATA_DIR names.`,
  );
}
