import { writeFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Beside what has the usual priority it then gets a tenth of a core that both want, and waits where that wakes up. */
const LOWER_BY = 10;
const LOWEST = 19;
/** Linux takes one such change of a session in a tenth of a second from who is not root. */
const BETWEEN_CHANGES_MS = 110;
const MOST_TRIES = 20;

/**
 * Has this thread do its work after that of others: what can wait must not tear the sound of calls. Nothing can take it back.
 * Only Linux has priorities of threads.
 */
export function lowerThisThread(): void {
  if (process.platform !== 'linux') return;
  try {
    lower(0);
  } catch {
    // Some sandbox forbids it: then it runs as others do.
  }
}

/** The same for a process of this user, or of any if this is root. One that has ended meanwhile is nobody's loss. */
export async function lowerProcess(pid: number): Promise<void> {
  try {
    lower(pid);
    // Where the kernel shares cores out among sessions (`sched_autogroup_enabled`), and this one has a session of its own.
    if (process.platform === 'linux') await lowerSession(pid);
  } catch {
    // Then it runs as others do.
  }
}

const lower = (id: number) => setPriority(id, Math.min(getPriority(id) + LOWER_BY, LOWEST));

async function lowerSession(pid: number): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      return await writeFile(`/proc/${pid}/autogroup`, String(LOWER_BY));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || tries === MOST_TRIES) throw error;
      await sleep(BETWEEN_CHANGES_MS);
    }
}
