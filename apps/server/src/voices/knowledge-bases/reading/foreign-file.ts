/** What a file is that no reader is for, by how it begins, and what to do about it. */
const FOREIGN: [at: number, magic: string, message: string][] = [
  [0, '\x89PNG', image()],
  [0, '\xff\xd8\xff', image()],
  [0, 'GIF8', image()],
  [0, 'BM', image()],
  [0, 'II*\0', image()],
  [0, 'MM\0*', image()],
  [8, 'WEBP', image()],
  [4, 'ftyphei', image()],
  [4, 'ftypavif', image()],
  [4, 'ftyp', recording()],
  [0, 'ID3', recording()],
  [0, 'OggS', recording()],
  [8, 'WAVE', recording()],
  [0, '\x1aE\xdf\xa3', recording()],
  [0, '{\\rtf', 'This is an RTF file. Save it as DOCX or PDF and upload that.'],
  [0, '%!PS', 'This is a PostScript file. Save it as PDF and upload that.'],
  [0, '\x1f\x8b', archive()],
  [0, 'Rar!', archive()],
  [0, "7z\xbc\xaf'\x1c", archive()],
  [0, 'BZh', archive()],
  [0, '\xfd7zXZ', archive()],
];

function image(): string {
  return 'This is an image. Upload its text, or a PDF whose text can be selected.';
}
function recording(): string {
  return 'This is a recording. Upload a transcript of it.';
}
function archive(): string {
  return 'This is an archive. Unpack it and upload the files that it holds.';
}

/** Encrypted Office files and those from before 2007 are both of this kind. The names in it are in UTF-16. */
const COMPOUND = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le');

/** What to do about a file that is none of ours; nothing where it may be one. */
export function foreignFile(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 64);
  if (head.startsWith(COMPOUND)) {
    return bytes.includes(ENCRYPTED)
      ? 'The file is protected by a password. Save it without one and upload that.'
      : 'This is a file of an old Office version. Save it as DOCX or PDF and upload that.';
  }
  return FOREIGN.find(([at, magic]) => head.startsWith(magic, at))?.[2];
}

/** What to do about a zip file that is no DOCX. */
export function foreignZip(bytes: Buffer): string {
  if (bytes.includes('xl/workbook')) return 'This is an Excel workbook. Save each sheet as CSV and upload those.';
  if (bytes.includes('ppt/presentation')) return 'This is a presentation. Save it as PDF and upload that.';
  if (bytes.includes('application/vnd.oasis.opendocument'))
    return 'This is an OpenDocument file. Save it as DOCX or PDF and upload that.';
  if (bytes.includes('application/epub+zip')) return 'This is an e-book. Save it as PDF and upload that.';
  return archive();
}
