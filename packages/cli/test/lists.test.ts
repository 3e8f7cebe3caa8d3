import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cli, client, file, json, start } from './cli.ts';

const PEOPLE = 'name,phone,city\nAda,(415) 555-0100,London\nGrace,+14155550186,Paris\nNobody,12,Rome\n';

describe('lists upload', () => {
  test('shows how the file is read and which rows fail, and imports the others', async () => {
    const people = await file('people.csv', PEOPLE);
    const errors = path.join(path.dirname(people), 'errors.csv');
    const { code, stdout, stderr } = await cli([
      'lists',
      'upload',
      people,
      '--country',
      'us',
      '--yes',
      '--errors',
      errors,
    ]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^phone +phone +\(415\) 555-0100 +\+14155550100$/m);
    expect(stdout).toMatch(/^city +\{\{city\}\} +London$/m);
    expect(stdout).toContain("1 row can't be called");
    expect(stdout).toMatch(/^4 +12 +\S/m);
    expect(stdout).toContain('2 of 3 rows can be called.');
    const [, id = ''] = /2 contacts in (list_\w+)/.exec(stdout) ?? [];
    expect(await json('lists', 'show', id)).toMatchObject({ id, name: 'people', totalEntries: 2, status: 'ready' });
    const entries = await json<{ phoneNumber: string }[]>('lists', 'entries', id);
    expect(entries.map(({ phoneNumber }) => phoneNumber).sort()).toEqual(['+14155550100', '+14155550186']);
    expect((await json<{ id: string }[]>('lists', 'list', '--limit', '200')).some((each) => each.id === id)).toBe(true);
    expect(await readFile(errors, 'utf8')).toContain('invalid_phone');
    expect(await json('lists', 'delete', id)).toEqual({ id, deleted: true });
  });

  test('reads the columns and the code page that are said', async () => {
    const people = await file('people.csv', '');
    await writeFile(people, Buffer.from('Wer;Kontakt;Privat\nPatanè;;+14155550187\n', 'latin1'));
    const columns = ['--phone-columns', 'Kontakt,Privat', '--name-columns', 'Wer', '--encoding', 'windows-1252'];
    const { stdout } = await cli(['lists', 'upload', people, '--yes', ...columns]);
    expect(stdout).toMatch(/^Privat +phone +\+14155550187 +\+14155550187$/m);
    expect(stdout).toMatch(/^Wer +name +Patanè$/m);
    expect(stdout).toContain('1 of 1 row can be called.');
  });

  test('a file whose rows all fail for want of a country says so, and leaves no list', async () => {
    const before = (await client().contactLists.list()).totalCount;
    const people = await file('people.csv', 'phone\n(415) 555-0100\n(415) 555-0101\n');
    const { code, stdout, stderr } = await cli(['lists', 'upload', people, '--yes']);
    expect(code).toBe(1);
    expect(stdout).toContain("2 rows can't be called");
    expect(stderr).toContain(
      `next     Say which country its numbers are of: trunkline lists upload ${people} --country US`,
    );
    expect((await client().contactLists.list()).totalCount).toBe(before);
  });

  test('Ctrl-C while the file is looked at leaves no list', async () => {
    const rows = Array.from({ length: 20_000 }, (_, at) => `+1415${5_550_000 + at}\n`).join('');
    const people = await file('many.csv', `phone\n${rows}`);
    const uploading = start(['lists', 'upload', people, '--yes'], { columns: 60 });
    await expect.poll(uploading.stderr, { interval: 5 }).toContain('Checking');
    uploading.interrupt();
    const { code, stdout } = await uploading.ended;
    expect(code).toBe(130);
    expect(stdout).not.toContain('contacts in');
    const left = async () => (await client().contactLists.list({ searchText: 'many' })).totalCount;
    expect(await left()).toBe(0);
  });

  test('nobody to ask, and no --yes: nothing is sent', async () => {
    const { code, stderr } = await cli(['lists', 'upload', await file('a.csv', PEOPLE)]);
    expect(code).toBe(2);
    expect(stderr).toContain('Add --yes.');
  });

  test('as JSON it is the list, here of whom never to call, and of a file that is not there the fault', async () => {
    const people = await file('people.csv', 'phone\n(415) 555-0177\n');
    const list = await json('lists', 'upload', people, '--name', 'Never', '--dnd', '--country', 'US', '--yes');
    expect(list).toMatchObject({ name: 'Never', type: 'dnd', totalEntries: 1 });
    expect((await cli(['why', '+14155550177'])).stdout).toMatch(/^\+14155550177 is on the do-not-call list since 20/);
    const { code, stderr } = await cli(['lists', 'upload', '/no/such.csv', '--yes', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'usage', message: expect.stringContaining('/no/such.csv') });
  });
});

test('rows that fail are listed, with how they are mended, and mended in the upload that is named', async () => {
  const lists = client().contactLists;
  const { id, uploadDetails, uploadUrl, uploadHeaders } = await lists.create({
    name: 'Faulty',
    fileName: 'faulty.csv',
  });
  await fetch(uploadUrl, { method: 'PUT', headers: uploadHeaders, body: 'phone\n+14155550142\n12\n' });
  await expect.poll(async () => (await lists.getUpload(id, uploadDetails.id)).status).toBe('validated');
  const { stdout } = await cli(['lists', 'rejected', id]);
  expect(stdout).toMatch(/^3 +12 +\S/m);
  expect(stdout).toContain(`trunkline lists mend ${id} ROW COLUMN=VALUE --upload ${uploadDetails.id}`);
  const mend = (cell: string) => cli(['lists', 'mend', id, '3', cell, '--upload', uploadDetails.id]);
  expect((await mend('phone')).code).toBe(2);
  expect((await mend('phone=13')).code).toBe(1);
  expect((await mend('phone=+14155550143')).stdout).toBe('Row 3 is imported with the others: +14155550143\n');
  await json('lists', 'delete', id);
});
