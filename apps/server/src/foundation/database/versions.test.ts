import { expect, test } from 'vitest';
import type { AppliedMigration } from './applied-migrations.ts';
import { compareVersions, type Migrations, runningFault, serverVersion, versionFault } from './versions.ts';

const known: Migrations = {
  '1': { release: '7.2.0', oldestServer: '7.2.0' },
  '2': { release: '7.3.0', oldestServer: '7.2.0' },
};
const applied = (...more: [release: string, oldestServer: string][]): AppliedMigration[] => [
  ...Object.entries(known).map(([name, each]) => ({ name, release: each.release, oldest_server: each.oldestServer })),
  ...more.map(([release, oldest_server], at) => ({ name: `9${at}`, release, oldest_server })),
];

test('versions are compared by their numbers', () => {
  expect(['0.10.0', '0.2.1', '1.0.0', '0.2.0', '0.9.12'].toSorted(compareVersions)).toEqual([
    '0.2.0',
    '0.2.1',
    '0.9.12',
    '0.10.0',
    '1.0.0',
  ]);
});

test('a server is of the version that its newest tables are to be released with', () => {
  expect(serverVersion(known)).toBe('7.3.0');
  expect(serverVersion({})).toMatch(/^0\.\d+\.\d+$/);
});

test('a server works with tables of which all that it does not know has left it what it needs', () => {
  expect(versionFault([], known)).toBeUndefined();
  expect(versionFault(applied(), known)).toBeUndefined();
  expect(versionFault(applied(['7.4.0', '7.3.0'], ['7.4.0', '7.2.0']), known)).toBeUndefined();
});

test('a server that tables have left behind is told both versions and the way', () => {
  expect(versionFault(applied(['7.4.0', '7.3.0'], ['7.4.0', '7.4.0']), known)).toBe(
    "The database is of version 7.4.0, and this server of version 7.3.0 can't work with it: install 7.4.0, or restore the backup from before the upgrade.",
  );
  expect(versionFault(applied(['7.4.0', '7.3.0'], ['7.10.0', '7.4.0']), known)).toMatch(
    /version 7\.10\.0, and .* 7\.3\.0 can't .*: install 7\.10\.0, or at least 7\.4\.0, or restore/,
  );
});

test('tables are not changed under servers that need them as they are', () => {
  const pending = { '2': known['2']! };
  expect(runningFault([], { '1': known['1']! }, known)).toBeUndefined();
  expect(runningFault(['7.2.0', '7.3.1'], pending, known)).toBeUndefined();
  expect(runningFault([null, '7.1.0'], {}, known)).toBeUndefined();
  expect(runningFault(['7.2.0', '7.1.9', '7.10.0'], pending, known)).toBe(
    'Servers of 7.1.9 run on this database, and 7.3.0 would change its tables under them. Stop them all, or upgrade them to 7.2.0, first.',
  );
  expect(runningFault(['7.2.0', null], { '3': { release: '7.3.0', oldestServer: '7.3.0' } }, known)).toBe(
    'Servers from before 0.2.0 run on this database, and 7.3.0 would change its tables under them. Stop them all first.',
  );
});
