import type { ObjectStore } from './object-store.ts';

/** The origin of a store's signed URLs: that of this server, or of S3. Pages that send and play files must be let there. */
export async function fileOrigin(objects: Pick<ObjectStore, 'uploadUrl'>): Promise<string> {
  const { url } = await objects.uploadUrl('uploads/origin', {
    contentType: 'text/csv',
    maxBytes: 1,
    expiresInSeconds: 1,
  });
  return new URL(url).origin;
}
