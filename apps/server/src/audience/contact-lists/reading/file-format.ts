import type { Encoding, TextEncoding } from './decode.ts';
import type { Delimiter } from './delimiter.ts';
import type { NamedColumns } from './header.ts';

/** How a file is to be read, as far as somebody has said so. */
export interface ReadAs extends Pick<NamedColumns, 'phoneColumns' | 'nameColumns' | 'timezoneColumns'> {
  encoding?: Encoding | undefined;
  /** Of a workbook. */
  sheet?: string | undefined;
}

const READ_AS = [
  'encoding',
  'sheet',
  'phoneColumns',
  'nameColumns',
  'timezoneColumns',
] as const satisfies (keyof ReadAs)[];

/**
 * What of a request says how its file is to be read, on top of what has been said: null takes that back.
 * @returns nothing if nothing is said
 */
export function readAsOf(
  said: { [Field in keyof ReadAs]: ReadAs[Field] | null },
  before: ReadAs = {},
): ReadAs | undefined {
  const fields = READ_AS.map((field) => [field, said[field] === undefined ? before[field] : said[field]] as const);
  const kept = fields.filter(([, value]) => value !== undefined && value !== null);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** How a file is read, as the contract shows it. */
export interface FileFormat extends TextEncoding {
  delimiter: Delimiter;
  phoneColumn?: string;
  /** Of a workbook, the sheet that is read. */
  sheet?: string;
}
