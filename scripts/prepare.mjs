import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { workspacePackages } from './packages.mjs';
import { pnpm } from './pnpm.mjs';
import { node, root, runQuietly, say } from './process.mjs';

/** Installs the dependencies where something that decides them has changed since the last time. */
export async function prepareInstall() {
  if (Number(process.versions.node.split('.')[0]) < 20)
    throw new Error(`Trunkline needs Node 20 or newer to start from; this is ${process.version}.`);
  const decides = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', '.npmrc', 'package.json'];
  decides.push(...workspacePackages().map(({ folder }) => path.join(folder, 'package.json')));
  // The links that pnpm makes hold the folder's path, so a moved folder is installed again.
  const wanted = hashOf(decides, `${root} ${process.platform}-${process.arch}`);
  const stamp = path.join(root, 'node_modules/.trunkline-installed');
  if (existsSync(node) && isStamped(stamp, wanted)) return;

  refuseUnsupportedPlatform();
  say('Installing the dependencies, in about 15 seconds …');
  const { code, output } = await pnpm(['install', '--frozen-lockfile']).catch(explainMissingNpm);
  if (code !== 0) throw new Error(`${output.trim()}\nThe dependencies could not be installed.`);
  writeFileSync(stamp, wanted);
}

/** Bundles the contract, and builds its documentation, where they are older than their sources. */
export async function prepareContract() {
  const sources = [...filesBelow('openapi'), ...filesBelow('docs')].filter((file) =>
    /\.(yaml|json|js|ts|css|md)$/.test(file),
  );
  const wanted = hashOf(['redocly.yaml', 'pnpm-lock.yaml', ...sources], '');
  const built = ['closed.json', 'openapi.json', 'openapi.yaml', 'docs/index.html', 'docs/llms.txt'].map((file) =>
    path.join(root, 'openapi/dist', file),
  );
  const stamp = path.join(root, 'openapi/dist/.trunkline-built');
  if (built.every((file) => existsSync(file)) && isStamped(stamp, wanted)) return;

  say('Building the contract and its documentation …');
  const args = ['run', 'bundle', 'docs', '--filter=@trunkline/openapi', '--output-logs=errors-only'];
  const { code, output } = await runQuietly('turbo', args);
  if (code !== 0) throw new Error(`${output.trim()}\nThe contract could not be built.`);
  writeFileSync(stamp, wanted);
}

/** Builds the console if it is older than its sources. */
export async function prepareConsole() {
  const wanted = hashOf(['pnpm-lock.yaml', ...filesBelow('apps/console'), ...filesBelow('packages/client/src')], '');
  const stamp = path.join(root, 'apps/console/dist/.trunkline-built');
  if (isStamped(stamp, wanted)) return;

  const { code, output } = await runQuietly(node, ['--run', 'build'], { cwd: path.join(root, 'apps/console') });
  if (code !== 0) throw new Error(`${output.trim()}\nThe console could not be built.`);
  writeFileSync(stamp, wanted);
}

function refuseUnsupportedPlatform() {
  const { platform, arch } = process;
  const needs = 'Trunkline runs on Linux with glibc and on macOS, on x64 and arm64';
  if (platform === 'win32') throw new Error(`${needs}. On Windows, run it in WSL.`);
  if (!['linux', 'darwin'].includes(platform) || !['x64', 'arm64'].includes(arch))
    throw new Error(`${needs}; this is ${platform} on ${arch}.`);
  process.report.excludeNetwork = true;
  if (platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime)
    throw new Error(
      `${needs}. This Linux has another C library (Alpine has musl); Debian and Ubuntu images have glibc.`,
    );
}

function explainMissingNpm(error) {
  if (error.code === 'ENOENT') throw new Error('npm or tar is not found: install them; npm usually comes with Node.');
  throw error;
}

function filesBelow(folder) {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist' && name !== '.turbo')
    .flatMap((entry) => {
      const at = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(at) : [at];
    })
    .sort();
}

function hashOf(files, more) {
  const hash = createHash('sha256').update(more);
  for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(path.join(root, file)));
  return hash.digest('hex');
}

const isStamped = (stamp, wanted) => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
