/** Checks an uploaded file and stages its rows. */
export const validateQueue = 'validate-upload';
/** Merges a confirmed upload into a list that has entries. */
export const importQueue = 'import-upload';
/** Deletes rows that no longer belong to a list, and files. */
export const eraseQueue = 'erase-uploads';

export interface UploadJob {
  workspaceId: string;
  uploadId: string;
}

export interface EraseJob {
  workspaceId: string;
  uploadIds: string[];
  /** Keys in the object store. */
  files: string[];
}
