import { describe, expect, it } from 'vitest';
import { decode } from './decode.ts';

async function text(...chunks: Uint8Array[]): Promise<string> {
  async function* source() {
    yield* chunks;
  }
  let all = '';
  for await (const piece of decode(source())) all += piece;
  return all;
}

const utf16be = (value: string) => Buffer.from(value, 'utf16le').swap16();

describe('decode', () => {
  it('reads UTF-8 with and without a byte order mark', async () => {
    expect(await text(Buffer.from('naïve,Zoë'))).toBe('naïve,Zoë');
    expect(await text(Buffer.from('\ufeffphone'))).toBe('phone');
  });

  it('reads UTF-16 with a mark, and Latin text without one', async () => {
    expect(await text(Buffer.from('\ufeffphone,é', 'utf16le'))).toBe('phone,é');
    expect(await text(utf16be('\ufeffphone,é'))).toBe('phone,é');
    expect(await text(Buffer.from('phone,name\n+1,Jo', 'utf16le'))).toBe('phone,name\n+1,Jo');
    expect(await text(utf16be('phone,name\n+1,Jo'))).toBe('phone,name\n+1,Jo');
  });

  it('reads what a spreadsheet saves in windows-1252, however late its first accent comes', async () => {
    const accents = Buffer.from([0x5a, 0x6f, 0xeb, 0x20, 0x80]);
    expect(await text(accents)).toBe('Zoë €');
    expect(await text(Buffer.alloc(200_000, 'a'), accents)).toBe(`${'a'.repeat(200_000)}Zoë €`);
  });

  it('keeps a character that a 64 KiB boundary cuts in two', async () => {
    for (const shift of [1, 2, 3]) {
      const value = `${'a'.repeat(65536 - shift)}😀é`;
      expect(await text(Buffer.from(value))).toBe(value);
    }
  });

  it.each([
    ['an Excel workbook', [0x50, 0x4b, 3, 4, 20], 'Excel workbook'],
    ['an old Excel workbook', [0xd0, 0xcf, 0x11, 0xe0, 0xa1], 'Excel workbook'],
    ['a PDF', [0x25, 0x50, 0x44, 0x46, 0x2d], 'PDF'],
    ['a gzip file', [0x1f, 0x8b, 8], 'gzip'],
    ['UTF-32', [0xff, 0xfe, 0, 0, 0x70], 'UTF-32'],
    ['bytes that are no text', [1, 2, 0, 0, 0, 9, 8], 'not a text file'],
    ['nothing', [], 'empty'],
  ])('refuses %s and says what to do', async (_, bytes, message) => {
    await expect(text(Uint8Array.from(bytes))).rejects.toMatchObject({
      code: 'unreadable_file',
      message: expect.stringContaining(message),
    });
  });

  it('refuses a file that turns into bytes later on', async () => {
    await expect(text(Buffer.alloc(100_000, 'a'), Buffer.from([0]))).rejects.toMatchObject({ code: 'unreadable_file' });
  });
});
