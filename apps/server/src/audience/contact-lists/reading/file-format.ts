import type { TextEncoding } from './decode.ts';
import type { Delimiter } from './delimiter.ts';

/** How a file is read, as the contract shows it. */
export interface FileFormat extends TextEncoding {
  delimiter: Delimiter;
  phoneColumn?: string;
}
