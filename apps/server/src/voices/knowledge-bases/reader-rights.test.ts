import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readerRights } from './reader-rights.ts';

test('a reader may read what its program imports, also if the folder of modules is a link', async () => {
  const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'trunkline-rights-')));
  try {
    for (const folder of ['release/dist', 'shared/app/node_modules', 'shared/node_modules'])
      mkdirSync(path.join(home, folder), { recursive: true });
    symlinkSync(path.join(home, 'shared/app/node_modules'), path.join(home, 'release/node_modules'));
    const program = path.join(home, 'release/dist/reader.js');
    writeFileSync(program, '');
    const { flags } = await readerRights(program);
    const readable = ['release/dist', 'release/node_modules', 'shared/app/node_modules', 'shared/node_modules'];
    for (const folder of readable) expect(flags).toContain(`--allow-fs-read=${path.join(home, folder)}`);
    expect(flags.filter((flag) => flag.includes(home))).toHaveLength(readable.length);
  } finally {
    rmSync(home, { recursive: true });
  }
});
