import { createRequire } from 'node:module';
import type { AppliedMigration, Migration } from './applied-migrations.ts';

/** Migrations by their names. */
export type Migrations = Readonly<Record<string, Pick<Migration, 'release' | 'oldestServer'>>>;

const { version } = createRequire(import.meta.url)('@trunkline/server/package.json') as { version: string };

/** Orders versions such as 0.10.2 by their numbers. */
export function compareVersions(a: string, b: string): number {
  const [one, two] = [a, b].map((each) => each.split('.').map(Number)) as [number[], number[]];
  const at = one.findIndex((number, index) => number !== two[index]);
  return at === -1 ? 0 : one[at]! - two[at]!;
}

export const newestOf = (versions: readonly string[]): string => versions.toSorted(compareVersions).at(-1)!;

/** The version of a server with these migrations: that of its package, or the one that is to come and brings some of them. */
export const serverVersion = (known: Migrations): string =>
  newestOf([version, ...Object.values(known).map(({ release }) => release)]);

/** The newest version that has brought one of these migrations. */
export const versionOfTables = (applied: readonly AppliedMigration[]): string =>
  newestOf(applied.map(({ release }) => release));

/** Why a server can't work with a database to which newer ones have applied migrations, and what to do; undefined if it can. */
export function versionFault(applied: readonly AppliedMigration[], known: Migrations): string | undefined {
  const own = serverVersion(known);
  const needed = newestOf(['0.0.0', ...applied.filter(({ name }) => !known[name]).map((each) => each.oldest_server)]);
  if (compareVersions(needed, own) <= 0) return undefined;
  const theirs = versionOfTables(applied);
  const install = needed === theirs ? theirs : `${theirs}, or at least ${needed}`;
  return (
    `The database is of version ${theirs}, and this server of version ${own} can't work with it: ` +
    `install ${install}, or restore the backup from before the upgrade.`
  );
}

/**
 * Why migrations may not be applied while these servers run, and what to do; undefined if they may.
 * @param running the versions of servers that have a lease; null of those that are older than 0.2.0
 */
export function runningFault(
  running: readonly (string | null)[],
  pending: Migrations,
  known: Migrations,
): string | undefined {
  if (Object.keys(pending).length === 0) return undefined;
  const needed = newestOf(Object.values(pending).map(({ oldestServer }) => oldestServer));
  const tooOld = running.filter((each) => each === null || compareVersions(each, needed) < 0);
  if (tooOld.length === 0) return undefined;
  const own = serverVersion(known);
  const oldest = tooOld.includes(null)
    ? 'from before 0.2.0'
    : `of ${(tooOld as string[]).toSorted(compareVersions)[0]}`;
  const way = needed === own ? 'Stop them all first' : `Stop them all, or upgrade them to ${needed}, first`;
  return `Servers ${oldest} run on this database, and ${own} would change its tables under them. ${way}.`;
}
