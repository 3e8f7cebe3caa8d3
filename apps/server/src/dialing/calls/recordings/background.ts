import { every } from '../../../platform/jobs/every.ts';
import { whileQuiet } from '../../../platform/jobs/quiet.ts';
import { callEventRecorder } from '../call-events.ts';
import type { CallStore } from '../store.ts';
import { type ErasePlace, eraseRecordings } from './erase-recordings.ts';
import { keepRecordings, type RecordingDeps } from './keep-recordings.ts';
import { openRecordingFiles } from './recording-files.ts';

const KEEP_MS = 2000;
const ERASE_MS = 5000;
/** How long the last recordings may take at the end; what is not stored by then is stored at the next start. */
const LAST_MS = 3000;

/**
 * Begins to store the recordings of a folder, and to erase old ones. Its close stores those that are whole by then: it is
 * for when no call is up any more.
 * @param directory made where it is missing; of this server, or of several
 */
export async function startRecordingWork(
  options: Omit<RecordingDeps, 'files' | 'recordEvents'> & { directory: string; calls: CallStore },
) {
  const files = await openRecordingFiles(options.directory);
  const deps = { ...options, files, recordEvents: callEventRecorder(options.calls.named) };
  const { log } = options;
  let place: ErasePlace | undefined;
  const erase = async () => {
    place = await eraseRecordings(deps, place);
    return place !== undefined;
  };
  const loops = [
    every(KEEP_MS, (signal) => keepRecordings(deps, signal), { name: 'keep recordings', log }),
    every(ERASE_MS, erase, { name: 'erase recordings', log, asleep: whileQuiet(options.database) }),
  ];
  return {
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()));
      await keepRecordings(deps, AbortSignal.timeout(LAST_MS)).catch((error) =>
        log.warn({ err: error }, 'recordings could not be stored at the end; the next start does it'),
      );
    },
  };
}
