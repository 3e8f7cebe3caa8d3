import type { ObjectStore } from '../../../foundation/objects/object-store.ts';
import { fromId } from '../../../foundation/values/ids.ts';
import type { Call } from '../shape-call.ts';
import { recordingKey } from './recording.ts';

const VALID_SECONDS = 3600;

/** A call with the URL of its recording, where one is stored. */
export async function withRecordingUrl(objects: Pick<ObjectStore, 'downloadUrl'>, call: Call): Promise<Call> {
  if (call.recording?.status !== 'stored') return call;
  const url = await objects.downloadUrl(recordingKey(fromId(call.roomId)), {
    fileName: `${call.roomId}.wav`,
    contentType: 'audio/wav',
    expiresInSeconds: VALID_SECONDS,
  });
  return { ...call, recording: { ...call.recording, url } };
}
