/** Reads the text of a document. */
export const readQueue = 'read-document';

export interface ReadJob {
  workspaceId: string;
  documentId: string;
}
