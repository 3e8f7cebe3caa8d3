import { describe, expect, test } from 'vitest';
import { cli, client, file, json } from './cli.ts';

type Entry = { phoneNumber: string; source: string; reason?: string };
const listed = (digits: string) => json<Entry[]>('dnc', 'list', '--search-text', digits);

describe('dnc', () => {
  test('adds numbers as people write them, lists them, and takes them off', async () => {
    const words = ['dnc', 'add', '+1 (650) 555-0112', 'tel:+16505550113', '(650) 555-0114'];
    const { code, stdout, stderr } = await cli([...words, '--default-country', 'us', '--reason', 'Asked by mail']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('3 numbers added, 0 there already.\n');
    expect(await listed('650555011')).toHaveLength(3);
    const { stdout: table } = await cli(['dnc', 'list', '--search-text', '6505550112']);
    expect(table).toMatch(/^\+16505550112 +opt_out +\S+ \S+ +Asked by mail/m);
    const some = await cli(['dnc', 'list', '--search-text', '650555011', '--limit', '2']);
    expect(some.stdout).toMatch(/^The first 2: --limit N shows more\.$/m);
    expect((await cli(['dnc', 'list', '--search-text', '650555011', '--limit', '3'])).stdout).not.toContain('--limit');
    expect(await json('dnc', 'add', '+16505550112')).toEqual({ added: 0, alreadyListed: 1, rejected: [] });
    const off = await json('dnc', 'remove', '650 555 0112', '+1 650 555 0113', '--default-country', 'us');
    expect(off).toEqual({ removed: ['+16505550112', '+16505550113'], left: [] });
    expect((await cli(['dnc', 'remove', '+16505550114'])).stdout).toContain('1 number may be called again');
    expect(await listed('650555011')).toEqual([]);
  });

  test('ends with 1 if any number can not be read, having added the others, and says what would help', async () => {
    const { code, stdout, stderr } = await cli(['dnc', 'add', '+16505550122', '0800 CALL NOW', '(650) 555-0123']);
    expect(code).toBe(1);
    expect(stdout).toContain('1 number added');
    expect(stdout).toMatch(/^0800 CALL NOW +\S/m);
    expect(stderr).toContain("2 numbers can't be read, and may still be called.");
    expect(stderr).toContain('Add --default-country US.');
    expect(await listed('650555012')).toMatchObject([{ phoneNumber: '+16505550122' }]);
    const none = await cli(['dnc', 'add', 'nobody']);
    expect(none.code).toBe(1);
    expect(none.stderr).toContain('No number was added.');
  });

  test('goes on behind a request of which nothing could be read, and fails all the same', async () => {
    const wrong = Array.from({ length: 1000 }, (_, at) => `x${at}`);
    const { code, stderr } = await cli(['dnc', 'add', ...wrong, '+16505550132']);
    expect(code).toBe(1);
    expect(stderr).toContain('No number was added.');
    expect(await listed('6505550132')).toHaveLength(1);
  });

  test('who is not on the list is not found; beside others these are taken off all the same', async () => {
    expect((await cli(['dnc', 'remove', '+16505550142'])).code).toBe(3);
    await json('dnc', 'add', '+16505550143');
    const { code, stdout } = await cli(['dnc', 'remove', '+16505550142', '+16505550143', 'nobody']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^\+16505550142 +\S/m);
    expect(stdout).toMatch(/^nobody +\S/m);
    expect(await listed('6505550143')).toEqual([]);
  });

  test('uploads a file as a list that nobody calls, and ends with 1 if any row can not be read', async () => {
    const good = await file('good.csv', 'phone\n(650) 555-0152\n');
    const done = await cli(['dnc', 'upload', good, '--default-country', 'us', '--yes']);
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code: 0, stderr: '' });
    expect(done.stdout).toMatch(/1 number in list_\w+: nobody calls them\./);
    const some = await file('some.csv', 'phone\n(650) 555-0153\n12\n');
    const { code, stderr } = await cli(['dnc', 'upload', some, '--default-country', 'US', '--yes']);
    expect(code).toBe(1);
    expect(stderr).toContain("1 row can't be read, and may still be called.");
    expect(await listed('650555015')).toMatchObject([{ source: 'list' }, { source: 'list' }]);
  });
});

test('lists upload says how many people are not to be called, and lists entries who', async () => {
  const people = await file('people.csv', 'phone,Do Not Call,consent\n4155550161,yes,\n4155550162,no,yes\n');
  const { stdout } = await cli(['lists', 'upload', people, '--country', 'US', '--yes']);
  expect(stdout).toMatch(/^Do Not Call +do_not_call +yes/m);
  expect(stdout).toContain('1 row of the file: “do not call”. Nobody calls these people.');
  const [, id = ''] = /2 contacts in (list_\w+)/.exec(stdout) ?? [];
  expect((await cli(['lists', 'entries', id])).stdout).toMatch(/^\+14155550161 .* yes/m);
  await client().contactLists.delete(id);
});
