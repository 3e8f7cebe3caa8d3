import type { StreamFrame } from '../http/handler.ts';
import { eventsAfter, isKept } from '../journal/events.ts';
import { ticks } from '../journal/ticks.ts';
import { notFound } from '../service-error.ts';
import type { ContactListDeps } from './deps.ts';
import { signedUpload } from './signed-upload.ts';
import { type ContactListUpload, isFinal, shapeUpload, type UploadEvent, type UploadRow } from './upload.ts';
import { findUpload, isAtRest } from './upload-store.ts';

interface Ids {
  listId: string;
  uploadId: string;
}

/**
 * The events of an upload from now on, or after the one that the client names last.
 * @returns nothing where that was the end
 * @throws `not_found`
 */
export async function uploadEvents(
  deps: ContactListDeps,
  workspaceId: string,
  ids: Ids,
  lastEventId: string | undefined,
  signal: AbortSignal,
): Promise<AsyncIterable<StreamFrame> | undefined> {
  const last = lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  const { upload, isKnown } = await deps.database.inWorkspace(workspaceId, async (tx) => {
    const upload = await findUpload(tx, ids.listId, ids.uploadId);
    if (!upload) throw notFound();
    const isKnown =
      last !== undefined &&
      (last === upload.revision || (last < upload.revision && (await isKept(tx, ids.uploadId, last))));
    return { upload, isKnown };
  });
  if (isKnown && last === upload.revision && isFinal(upload.status)) return undefined;
  return follow(deps, workspaceId, ids, isKnown ? last : upload, signal);
}

async function* follow(
  deps: ContactListDeps,
  workspaceId: string,
  ids: Ids,
  begin: number | UploadRow | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamFrame> {
  let after = typeof begin === 'number' ? begin : 0;
  // A client that names the last event of an upload at rest waits for more; one that has just got it is done.
  let sent = false;
  if (typeof begin === 'object') {
    after = begin.revision;
    sent = true;
    yield frame(deps, after, `upload.${begin.status}`, shapeUpload(begin));
    if (isAtRest(begin.status)) return;
  }
  for await (const _ of ticks(deps.notifications, ids.uploadId, signal)) {
    const news = await deps.database.inWorkspace(workspaceId, async (tx) => {
      const upload = await findUpload(tx, ids.listId, ids.uploadId);
      if (!upload) return undefined;
      return { upload, events: upload.revision > after ? await eventsAfter(tx, ids.uploadId, after) : [] };
    });
    if (!news) return;
    for (const { revision, type, data } of news.events) {
      after = revision;
      sent = true;
      yield frame(deps, revision, type, data as ContactListUpload);
    }
    // The row may be older than the events, which are read after it: then the next look ends the stream.
    if (sent && after >= news.upload.revision && isAtRest(news.upload.status)) return;
  }
}

async function frame(
  { objects }: ContactListDeps,
  revision: number,
  type: string,
  upload: ContactListUpload,
): Promise<StreamFrame> {
  const data = await signedUpload(objects, upload);
  const event: UploadEvent = {
    eventId: String(revision),
    eventType: type as UploadEvent['eventType'],
    data,
    ...(data.errorReportUrl && { errorReportUrl: data.errorReportUrl }),
  };
  return { id: event.eventId, event: type, data: event };
}
