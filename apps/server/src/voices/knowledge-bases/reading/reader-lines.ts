import type { DocumentType } from '../../../foundation/database/schema.ts';

/** What the reader's process writes: passages and then an end, or a fault. */
export interface ReaderLine {
  passage?: string;
  end?: { fileType: DocumentType; bytes: number };
  fault?: { message: string; fileType: DocumentType | undefined };
}
