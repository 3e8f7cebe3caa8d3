import type { DocumentType } from '../../../foundation/database/schema.ts';

/** Why a document can't be read, for the person who sent it: the message says what to do. */
export class DocumentFault extends Error {
  readonly fileType: DocumentType | undefined;

  constructor(message: string, fileType?: DocumentType) {
    super(message);
    this.fileType = fileType;
  }
}
