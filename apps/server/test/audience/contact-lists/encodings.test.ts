import iconv from 'iconv-lite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';
import { createWithFile, entriesOf, type Ids, importFile, validated } from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const written = (text: string, codePage: string) => new Uint8Array(iconv.encode(text, codePage));
const preview = async (path: Ids) =>
  (await server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}/preview', { params: { path } })).data!;

test.each([
  ['windows-1250', 'PL', 'name;Telefon;Miasto\nŁukasz Wiśniewski;22 123 45 67;Łódź\n', 'Łukasz Wiśniewski'],
  ['windows-1251', 'RU', 'name;Телефон\nИванов Пётр;+7 495 123-45-67\n', 'Иванов Пётр'],
  ['shift_jis', 'JP', 'name,電話番号\n山田太郎,03-1234-5678\n', '山田太郎'],
] as const)(
  'a file that Excel saved in %s is read as it was written, and the preview shows it so',
  async (encoding, defaultCountry, text, name) => {
    const { id, uploadID, upload } = await importFile(server, written(text, encoding), { defaultCountry });
    expect(upload.format).toMatchObject({ encoding, encodingGuessed: true, encodingCertainty: expect.any(Number) });
    expect((await entriesOf(server, id)).map((entry) => entry.name)).toEqual([name]);
    expect(await preview({ id, uploadID })).toMatchObject({ format: { encoding }, rows: [{ contact: { name } }] });
  },
);

test('a text that can be read in two ways is refused with both, and read by encoding', async () => {
  const file = written('name;phone\nPatanè;+14155550100\n', 'windows-1252');
  const ids = await createWithFile(server, file, { defaultCountry: 'PL' });
  const failure = { code: 'unclear_encoding', message: expect.stringContaining('“Patanè” in windows-1252') };
  expect(await validated(server, ids)).toMatchObject({ status: 'failed', failure });
  expect((await preview(ids)).failure).toEqual(failure);

  const { id, upload } = await importFile(server, file, { defaultCountry: 'PL', encoding: 'windows-1252' });
  expect(upload.format).toEqual({
    ...{ encoding: 'windows-1252', encodingGuessed: false, delimiter: ';', phoneColumn: 'phone' },
  });
  expect((await entriesOf(server, id))[0]!.name).toBe('Patanè');
});

test('a file that is not in the encoding that was said is refused', async () => {
  const file = written('name;phone\nPatanè;+14155550100\n', 'windows-1252');
  const upload = await validated(server, await createWithFile(server, file, { encoding: 'utf-8' }));
  const message = 'The text is not in utf-8, as encoding says. Leave it out to have it found.';
  expect(upload).toMatchObject({ status: 'failed', failure: { code: 'unreadable_file', message } });
});
