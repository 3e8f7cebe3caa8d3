import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallKey } from '../call.ts';

/** A recording as a file: being written, whole, or given up. */
export interface RecordingFile extends CallKey {
  path: string;
  stage: 'writing' | 'whole' | 'failed';
}

/**
 * The folder in which recordings are written before the object store has them. The name of a file says whose it is and
 * how far it is, so that nothing else need be remembered, and nothing is lost with the process.
 */
export interface RecordingFiles {
  /** The file that a call is to be written to; nothing is made. */
  pathOf(call: CallKey): string;
  /** Says that a file is whole, or that it has failed. One that is not there is fine. */
  finish(call: CallKey, as: 'whole' | 'failed'): Promise<void>;
  /** Every file there is, those whose writer has died as whole. */
  list(): Promise<RecordingFile[]>;
  remove(file: RecordingFile): Promise<void>;
}

const endings = { writing: '.part', whole: '.wav', failed: '.failed' } as const;
const UUID = '[0-9a-f-]{36}';
const NAME = new RegExp(`^(${UUID})_(${UUID})(\\.part|\\.wav|\\.failed)$`);
/** Sound is written every second, silence too. */
const WRITER_DEAD_MS = 120_000;
/** Of a WAV file of 16 bits (lines/media/stereo-wav.ts). */
const HEADER_BYTES = 44;

/** @param directory made where it is missing */
export async function openRecordingFiles(directory: string): Promise<RecordingFiles> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const pathAs = ({ workspaceId, roomId }: CallKey, stage: RecordingFile['stage']) =>
    join(directory, `${workspaceId}_${roomId}${endings[stage]}`);

  async function finish(call: CallKey, as: 'whole' | 'failed'): Promise<void> {
    await rename(pathAs(call, 'writing'), pathAs(call, as)).catch(ignoreMissing);
  }

  /** What a dead writer has left is as long as it is. */
  async function adopt(call: CallKey): Promise<void> {
    const file = await open(pathAs(call, 'writing'), 'r+');
    try {
      const { size } = await file.stat();
      const sizes = Buffer.alloc(4);
      sizes.writeUInt32LE(Math.max(0, size - 8));
      await file.write(sizes, 0, 4, 4);
      sizes.writeUInt32LE(Math.max(0, size - HEADER_BYTES));
      await file.write(sizes, 0, 4, HEADER_BYTES - 4);
      await file.sync();
    } finally {
      await file.close();
    }
    await finish(call, 'whole');
  }

  return {
    pathOf: (call) => pathAs(call, 'writing'),
    finish,
    async list() {
      const found: RecordingFile[] = [];
      for (const name of await readdir(directory)) {
        const [, workspaceId, roomId, ending] = NAME.exec(name) ?? [];
        if (!workspaceId || !roomId) continue;
        const call = { workspaceId, roomId };
        let stage: RecordingFile['stage'] = ending === '.part' ? 'writing' : ending === '.wav' ? 'whole' : 'failed';
        if (stage === 'writing') {
          const written = await stat(join(directory, name)).catch(ignoreMissing);
          if (!written) continue;
          if (Date.now() - written.mtimeMs > WRITER_DEAD_MS) {
            // Another server may be at it.
            await adopt(call).catch(ignoreMissing);
            stage = 'whole';
          }
        }
        found.push({ ...call, path: pathAs(call, stage), stage });
      }
      return found;
    },
    remove: ({ path }) => rm(path, { force: true }),
  };
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
