import { describe, expect, test } from 'vitest';
import {
  type Content,
  docxOf,
  encryptedPdf,
  pdfOf,
  wordParagraph,
  zipOf,
} from '../../../../test/voices/knowledge-bases/document-files.ts';
import { readingLimits } from './limits.ts';
import { readFile } from './read-file.ts';

const read = (content: Content) => readFile(Buffer.from(content as string), readingLimits);
const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'));
const utf16 = (text: string) => Uint8Array.from(Buffer.from(text, 'utf16le'));

const page = `<!doctype html><title>Clinic</title><style>p { color: red }</style><script>alert(1)</script>
<h1>Hours</h1><p>We <b>are</b>&nbsp;<a href="https://x.test">open</a>.</p><img src=x alt=y>
<table><tr><th>Day<th>Time<tr><td>Mon<td>9</table>`;
const table = `<w:tbl><w:tr><w:tc>${wordParagraph('Mon')}</w:tc><w:tc>${wordParagraph('9')}</w:tc></w:tr></w:tbl>`;

const readable: [kind: string, content: Content, type: string, text: string][] = [
  [
    'a PDF',
    pdfOf(['Opening hours\nOn Satur-\ndays', 'Caf\xe9 (bar)']),
    'pdf',
    'Opening hours\nOn Saturdays\fCafé (bar)',
  ],
  ['a PDF after other bytes', Buffer.concat([latin1('\x1b%-12345X@PJL\n'), pdfOf(['Hi'])]), 'pdf', 'Hi'],
  ['a DOCX', docxOf(wordParagraph('Zoë &amp; Co', 'Heading1') + table), 'docx', 'Zoë & Co\n\nMon 9'],
  ['an HTML page', page, 'html', 'Clinic\n\n\nHours\n\nWe are\u00a0open.\n\nDay Time\nMon 9'],
  ['a page that names its encoding', latin1('<html><meta charset="windows-1251"><p>\xc4\xe0</html>'), 'html', 'Да'],
  [
    'JSON',
    '{"hours":{"sat":"9-13","sun":null},"list":[{"a":1},{"a":true}]}',
    'json',
    'hours sat: 9-13\nlist a: 1\n\nlist a: true',
  ],
  ['CSV with names', 'name;price\nGreen  tea;2,50\nCoffee;\n', 'csv', 'name: Green tea; price: 2,50\n\nname: Coffee'],
  ['Markdown', '# Hours\n\nOpen.\n## Late\nNever.', 'md', '# Hours\n\nOpen.\n\n\n## Late\nNever.'],
  ['UTF-8 with a byte order mark', '\ufeffZoë', 'txt', 'Zoë'],
  ['UTF-16 with a byte order mark', utf16('\ufeffZoë 日本'), 'txt', 'Zoë 日本'],
  ['UTF-16 without one', utf16('Opening hours'), 'txt', 'Opening hours'],
  ['windows-1252', latin1('Gr\xfc\xdfe \x96 10 \x80'), 'txt', 'Grüße – 10 €'],
  ['UTF-8 with faults', Buffer.concat([Buffer.from('Zoë '), latin1('\xff')]) as never, 'txt', 'Zoë \ufffd'],
];

test.each(readable)('reads %s', async (_, content, type, text) => {
  expect(await read(content)).toEqual({ fileType: type, text, bytes: Buffer.byteLength(text) });
});

test('tidies text up', async () => {
  expect(await read('a\r\nb\rc \t\n\n\n\n\n\nd\x07\u00ade')).toMatchObject({
    fileType: 'txt',
    text: 'a\nb\nc\n\n\nde',
  });
});

const unreadable: [kind: string, content: Content, message: string, type?: string][] = [
  ['an empty file', '', 'is empty'],
  ['only spaces', ' \n\t ', 'holds no text', 'txt'],
  ['a page without text', '<!doctype html><html><body></body></html>', 'holds no text', 'html'],
  ['an encrypted PDF', encryptedPdf(), 'protected by a password', 'pdf'],
  ['a scanned PDF', pdfOf(['', '']), 'recognised (OCR)', 'pdf'],
  ['a damaged PDF', '%PDF-1.7\nnothing of the kind', 'damaged', 'pdf'],
  ['a PDF of 10,000 pages', pdfOf(Array(10_000).fill('x')), '10,000 pages; at most 3,000', 'pdf'],
  ['a damaged DOCX', docxOf('<w:p>'), 'damaged', 'docx'],
  ['a cut DOCX', docxOf(wordParagraph('x')).slice(0, -40), 'damaged', 'docx'],
  ['an Excel workbook', zipOf({ 'xl/workbook.xml': '<a/>' }), 'sheet as CSV'],
  ['a presentation', zipOf({ 'ppt/presentation.xml': '<a/>' }), 'presentation'],
  ['a zip file', zipOf({ 'a.txt': 'x' }), 'archive'],
  ['an old DOC', latin1(`\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1${'\0'.repeat(600)}`), 'old Office version'],
  [
    'an encrypted DOCX',
    Uint8Array.from(Buffer.concat([latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), utf16('EncryptedPackage')])),
    'protected by a password',
  ],
  ['an image', latin1('\x89PNG\r\n\x1a\n\0\0'), 'image'],
  ['a recording', latin1('ID3\x03\0\0'), 'recording'],
  ['an RTF file', '{\\rtf1 Hello}', 'RTF'],
  ['binary data', Uint8Array.from({ length: 4096 }, (_, at) => (at * 7919) % 251), 'no document'],
  ['binary data without NUL', Uint8Array.from({ length: 4096 }, (_, at) => 1 + ((at * 7919) % 30)), 'no document'],
  ['deep JSON', '['.repeat(200) + ']'.repeat(200), '100 levels', 'json'],
];

describe('says why it does not read', () => {
  test.each(unreadable)('%s', async (_, content, message, fileType) => {
    const failing = read(content);
    await expect(failing).rejects.toMatchObject({ fileType, message: expect.stringContaining(message) });
    await expect(failing).rejects.toThrow(/^[A-Z].*\.$/);
  });

  test('text over the cap, read or not', async () => {
    const limits = { ...readingLimits, textBytes: 1_000_000 };
    const over = (text: string) => readFile(Buffer.from(text), limits);
    await expect(over('word '.repeat(300_000))).rejects.toThrow('more than 1 MB of text');
    await expect(over('word '.repeat(600_000))).rejects.toThrow('more than 1 MB of text');
    const csv = `${'a'.repeat(60)},${'b'.repeat(60)}\n${'1,2\n'.repeat(10_000)}`;
    await expect(over(csv)).rejects.toMatchObject({ fileType: 'csv' });
  });
});

test('a page that nests deeply is read to a depth', async () => {
  const html = `<html><p>Top</p>${'<div>'.repeat(50_000)}Deep${'</div>'.repeat(50_000)}</html>`;
  expect((await read(html)).text).toMatch(/^Top/);
});
