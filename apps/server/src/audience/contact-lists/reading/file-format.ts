import type { Encoding, TextEncoding } from './decode.ts';
import type { Delimiter } from './delimiter.ts';

/** How a file is to be read, as far as somebody has said so. */
export interface ReadAs {
  encoding?: Encoding | undefined;
}

/** What of a request says how its file is to be read; nothing if it says nothing. */
export const readAsOf = ({ encoding }: ReadAs): ReadAs | undefined =>
  encoding === undefined ? undefined : { encoding };

/** How a file is read, as the contract shows it. */
export interface FileFormat extends TextEncoding {
  delimiter: Delimiter;
  phoneColumn?: string;
}
