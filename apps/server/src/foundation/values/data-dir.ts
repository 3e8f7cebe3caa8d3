import { access, constants, mkdir } from 'node:fs/promises';

/** Makes the folder of DATA_DIR where there is none. Throws, saying what to do, where this user can't write in it. */
export async function openDataDir(dataDir: string): Promise<void> {
  try {
    // Root's PostgreSQL runs as another user, who has to pass through here.
    await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code;
    const advice = 'Give it the right to, or set DATA_DIR to a folder that it may write in.';
    throw new Error(`This user can't write in DATA_DIR, ${dataDir} (${why}). ${advice}`, { cause });
  }
}
