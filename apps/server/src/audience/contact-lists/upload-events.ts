import type { StreamSource } from '../../foundation/http/handler.ts';
import { follow, type StreamReader } from '../../platform/journal/follow.ts';
import type { ContactListDeps } from './deps.ts';
import { signedUpload } from './signed-upload.ts';
import { type ContactListUpload, isFinal, shapeUpload, type UploadEvent } from './upload.ts';
import { findUpload, isAtRest } from './upload-store.ts';

/**
 * The events of an upload from now on, or after the one that the client names last.
 * @returns nothing where that was the end
 * @throws `not_found`
 */
export const uploadEvents = (
  deps: ContactListDeps,
  { listId, uploadId }: { listId: string; uploadId: string },
  reader: StreamReader,
): Promise<StreamSource | undefined> =>
  follow(
    deps,
    {
      id: uploadId,
      read: (tx) => findUpload(tx, listId, uploadId),
      type: ({ status }) => `upload.${status}`,
      data: shapeUpload,
      isFinal: ({ status }) => isFinal(status),
      isAtRest: ({ status }) => isAtRest(status),
      asSent: async (event) => {
        const data = await signedUpload(deps.objects, event.data as ContactListUpload);
        const { errorReportUrl } = data;
        const eventType = event.eventType as UploadEvent['eventType'];
        return { ...event, eventType, data, ...(errorReportUrl && { errorReportUrl }) } satisfies UploadEvent;
      },
    },
    reader,
  );
