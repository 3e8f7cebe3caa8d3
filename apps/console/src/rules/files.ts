import type { components } from '@trunkline/client';
import { type Known, number, several } from './words.ts';

type Schemas = components['schemas'];
export type Upload = Schemas['ContactListUpload'];
export type ContactList = Schemas['ContactList'];

const MOVING: readonly string[] = ['pending', 'uploaded', 'validating', 'processing'];

/** Whether something happens to an upload by itself. */
export const isMoving = ({ status }: Upload) => MOVING.includes(status);

/** What each encoding is for, as people know it who have never heard of code pages. */
const ENCODINGS = {
  'utf-8': 'Unicode (UTF-8)',
  'utf-16le': 'Unicode (UTF-16, little-endian)',
  'utf-16be': 'Unicode (UTF-16, big-endian)',
  'windows-1252': 'Western European (windows-1252)',
  'windows-1250': 'Central European: Polish, Czech, Hungarian … (windows-1250)',
  'windows-1251': 'Cyrillic: Russian, Bulgarian … (windows-1251)',
  'windows-1253': 'Greek (windows-1253)',
  'windows-1254': 'Turkish (windows-1254)',
  'windows-1255': 'Hebrew (windows-1255)',
  'windows-1256': 'Arabic (windows-1256)',
  'windows-1257': 'Baltic (windows-1257)',
  'windows-874': 'Thai (windows-874)',
  shift_jis: 'Japanese (Shift JIS)',
  gb18030: 'Chinese, simplified (GB 18030)',
  big5: 'Chinese, traditional (Big5)',
  'euc-kr': 'Korean (EUC-KR)',
  'koi8-r': 'Russian, of Unix (KOI8-R)',
  ibm866: 'Russian, of DOS (IBM 866)',
  'iso-8859-2': 'Central European, of Unix (ISO 8859-2)',
  'euc-jp': 'Japanese, of Unix (EUC-JP)',
  macintosh: 'Western European, of old Macs',
} satisfies Record<Known<Schemas['ContactListEncoding']>, string>;

/** Encodings by the name by which a request says them, with the words for them. */
export const encodings = Object.entries(ENCODINGS);

const DELIMITERS: Readonly<Record<string, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };

/** How a file was read, in a sentence. */
export function formatSays(format: Schemas['ContactListFileFormat']): string {
  if (format.sheet !== undefined) return `Read from the sheet “${format.sheet}” of a workbook.`;
  const parted = `parted by ${DELIMITERS[format.delimiter] ?? format.delimiter}`;
  if (!format.encodingGuessed) return `Its cells are ${parted}.`;
  const { encodingCertainty: certainty } = format;
  const how = certainty === undefined ? '' : `, ${Math.floor(certainty * 100)} % certain`;
  return `How its text is written was found by its words${how}; its cells are ${parted}. Look at the names below.`;
}

/** How many of the rows can be imported, and how many not. */
export function rowsSay({ totalRows, validRows, invalidRows, duplicateRows }: Schemas['ContactListUploadMetadata']) {
  const left = [
    invalidRows > 0 && `${number(invalidRows)} can’t`,
    duplicateRows > 0 && `${number(duplicateRows)} ${duplicateRows === 1 ? 'repeats' : 'repeat'} a number further up`,
  ].filter(Boolean);
  return `${several(totalRows, 'row')}: ${number(validRows)} can be imported${left.length > 0 ? `, ${left.join(', ')}` : ''}.`;
}

/** What can be done here about a file of which nothing can be imported; nothing where the file itself is to be mended. */
const REMEDIES: Partial<Record<Known<Schemas['ContactListUploadFailureCode']>, string>> = {
  unclear_encoding: 'Choose below how its text is written: the names are right then.',
  no_phone_column: 'Say below which column holds the phone numbers.',
  no_do_not_call_column: 'Say below which column says who is not to be called.',
  no_such_column: 'Say below what the columns are.',
  no_such_sheet: 'Name below the sheet that is to be read.',
};

/** Why nothing of a file can be imported, and what to do. */
export function failureSays({ code, message }: Schemas['ContactListUploadFailure']): [why: string, todo: string] {
  const remedy = (REMEDIES as Readonly<Record<string, string>>)[code];
  // What a program would do stands at the end of some messages.
  const why = message.replace(/ Say by phoneColumns .*$| Save it as "CSV UTF-8", or say which .*$/, '');
  return [why, remedy ?? 'Mend the file in your spreadsheet, save it, and begin anew with it.'];
}

/** A size as people say it: 1.4 MB. */
export function sizeSays(bytes: number): string {
  if (bytes < 1000) return several(bytes, 'byte');
  return bytes < 1_000_000 ? `${number(Math.round(bytes / 1000))} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A file's name without its ending, as the name of a list; nothing that a name can't hold. */
export const listNameOf = (fileName: string) =>
  fileName
    .replace(/\.[a-z0-9]{1,5}$/i, '')
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, ' ')
    .trim()
    .slice(0, 255) || 'Contacts';
