import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import type { SoundDeps } from './deps.ts';
import { soundKey } from './sound.ts';
import { findSound } from './store.ts';

const eraseQueue = 'erase-sound';

interface EraseJob {
  workspaceId: string;
  soundId: string;
}

/** Has the file of a sound erased that is not there, now or then. */
export const eraseUnlessThere = (jobs: Jobs, tx: WorkspaceTx, soundId: string, afterSeconds = 0): Promise<void> =>
  jobs.enqueue<EraseJob>(tx, eraseQueue, { workspaceId: tx.workspaceId, soundId }, { afterSeconds });

/** Begins to erase files of sounds in this process. */
export const startSoundWork = ({ jobs, database, objects }: Pick<SoundDeps, 'jobs' | 'database' | 'objects'>) =>
  jobs.work<EraseJob>({
    queue: eraseQueue,
    concurrency: 2,
    run: async ({ workspaceId, soundId }) => {
      const found = await database.inWorkspace(workspaceId, (tx) => findSound(tx, soundId));
      if (!found) await objects.delete(soundKey(soundId));
    },
  });
