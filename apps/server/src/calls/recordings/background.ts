import { every } from '../../jobs/every.ts';
import { callEventRecorder } from '../call-events.ts';
import type { CallStore } from '../store.ts';
import { eraseRecordings } from './erase-recordings.ts';
import { keepRecordings, type RecordingDeps } from './keep-recordings.ts';
import { openRecordingFiles } from './recording-files.ts';

const KEEP_MS = 2000;
const ERASE_MS = 5000;

/**
 * Begins to store the recordings of a folder, and to erase old ones.
 * @param directory made where it is missing; of this server, or of several
 */
export async function startRecordingWork(
  options: Omit<RecordingDeps, 'files' | 'recordEvents'> & { directory: string; calls: CallStore },
) {
  const files = await openRecordingFiles(options.directory);
  const deps = { ...options, files, recordEvents: callEventRecorder(options.calls.named) };
  const { log } = options;
  const loops = [
    every(KEEP_MS, () => keepRecordings(deps), { name: 'keep recordings', log }),
    every(ERASE_MS, () => eraseRecordings(deps), { name: 'erase recordings', log }),
  ];
  return { close: async () => void (await Promise.all(loops.map((loop) => loop.close()))) };
}
