import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrations } from '../src/foundation/database/migrate.ts';
import { serverVersion } from '../src/foundation/database/versions.ts';

const home = path.join(import.meta.dirname, '..');

/** The version of the sources, and of those that are to come after it. */
export const ownVersion = serverVersion(migrations);
export const laterVersion = (releases: number): string => {
  const [major, minor] = ownVersion.split('.').map(Number) as [number, number];
  return `${major}.${minor + releases}.0`;
};

export interface OtherRelease {
  /** What Node is given to run. */
  main: string[];
  folder: string;
  remove(): Promise<void>;
}

/** What a later release would bring: SQL, and the oldest version whose servers work with the tables after it. */
interface Change {
  release: string;
  oldestServer: string;
  sql: string;
}

/**
 * Copies the server's sources, as a release of another version that has some migrations more.
 * @param changes by the names of the migrations
 * @param edits of other files, by their paths
 */
export async function otherRelease(
  version: string,
  changes: Record<string, Change>,
  edits: Record<string, (text: string) => string> = {},
): Promise<OtherRelease> {
  const folder = await mkdtemp(path.join(tmpdir(), `trunkline-${version}-`));
  for (const part of ['src', 'migrations'])
    await cp(path.join(home, part), path.join(folder, part), { recursive: true });
  await symlink(path.join(home, 'node_modules'), path.join(folder, 'node_modules'));
  const about = JSON.parse(await readFile(path.join(home, 'package.json'), 'utf8'));
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ ...about, version }));
  const listed = path.join(folder, 'src/foundation/database/migrate.ts');
  let list = await readFile(listed, 'utf8');
  for (const [name, { sql, ...versions }] of Object.entries(changes)) {
    const text = `import { sql } from 'kysely';
export const release = '${versions.release}';
export const oldestServer = '${versions.oldestServer}';
export const up = (db) => sql.raw(${JSON.stringify(sql)}).execute(db);
`;
    await writeFile(path.join(folder, `migrations/${name}.ts`), text);
    const constant = `later${name.replace(/\W/g, '')}`;
    list = `import * as ${constant} from '../../../migrations/${name}.ts';\n${list}`.replace(
      /(export const migrations[^{]*\{\n)([^}]*)/,
      `$1$2  '${name}': ${constant},\n`,
    );
  }
  await writeFile(listed, list);
  for (const [name, edit] of Object.entries(edits)) {
    const file = path.join(folder, name);
    await writeFile(file, edit(await readFile(file, 'utf8')));
  }
  const main = ['--conditions=source', path.join(folder, 'src/main.ts')];
  return { main, folder, remove: () => rm(folder, { recursive: true }) };
}

/** The next release, whose servers work beside those of this one: it adds columns and a table. */
export const addingRelease = (): Promise<OtherRelease> =>
  otherRelease(laterVersion(1), {
    '9001-adds': {
      release: laterVersion(1),
      oldestServer: ownVersion,
      sql: `alter table calls add column mood text; alter table campaigns add column shelf text not null default 'top';
        create table moods (id uuid primary key)`,
    },
  });
