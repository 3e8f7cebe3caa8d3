import type { Database, WorkspaceTx } from '../../../foundation/database/database.ts';
import { ObjectMissing, type ObjectStore } from '../../../foundation/objects/object-store.ts';
import type { components } from '../../../foundation/values/generated/contract.ts';
import { toId } from '../../../foundation/values/ids.ts';
import { limiter } from '../../../foundation/values/limiter.ts';
import { notFound, ServiceError } from '../../../foundation/values/service-error.ts';
import { soundFirst } from '../../../foundation/values/sound-first.ts';
import { recordingKey } from './recording.ts';

/** Into so many parts a recording is divided at most; a larger part is several of these. */
const FINEST = 4000;
/** A sample of each channel, of 16 bits; the file's header is as long as eleven of them. */
const FRAME_BYTES = 4;
const HEADER_FRAMES = 11;
const LOUDEST_SAMPLE = 32_768;
const LOUDEST = 255;

/** Recordings that are read for it, of which one workspace has one. */
const inTurn = limiter(2);

interface PeaksDeps {
  database: Database;
  objects: Pick<ObjectStore, 'get'>;
}

/**
 * How loud each of so many parts of a recording is. The whole file is read the first time, while somebody waits for it.
 * @throws `not_found` where there is no recording, or no more; `invalid_state` while it is being made; `unavailable` once
 *   the client has gone, or the server drains
 */
export async function readPeaks(
  deps: PeaksDeps,
  workspaceId: string,
  { roomId, points, signal }: { roomId: string; points: number; signal: AbortSignal },
): Promise<components['schemas']['CallRecordingPeaks']> {
  const recording = await storedRecording(deps, workspaceId, roomId);
  const peaks = recording.peaks ?? (await inTurn(workspaceId, () => findPeaks(deps, workspaceId, { roomId, signal })))!;
  return {
    roomId: toId('room', roomId),
    durationSeconds: (recording.duration_ms ?? 0) / 1000,
    callee: channelOf(peaks, 0, points),
    agent: channelOf(peaks, 1, points),
  };
}

async function storedRecording({ database }: PeaksDeps, workspaceId: string, roomId: string) {
  const recording = await database.inWorkspace(workspaceId, ({ db }) =>
    db
      .selectFrom('call_recordings')
      .select(['status', 'size_bytes', 'duration_ms', 'peaks'])
      .where('workspace_id', '=', workspaceId)
      .where('room_id', '=', roomId)
      .executeTakeFirst(),
  );
  if (recording?.status === 'recording') {
    const message = 'The call is still being recorded. Ask again once the recording is stored.';
    throw new ServiceError('invalid_state', message);
  }
  if (recording?.status !== 'stored') throw notFound();
  return recording;
}

async function findPeaks(
  deps: PeaksDeps,
  workspaceId: string,
  { roomId, signal }: { roomId: string; signal: AbortSignal },
): Promise<Buffer> {
  refuseIfGone(signal);
  // Somebody else may have asked before, and waited less.
  const { peaks, size_bytes } = await storedRecording(deps, workspaceId, roomId);
  if (peaks) return peaks;
  const frames = Math.floor((size_bytes ?? 0) / FRAME_BYTES) - HEADER_FRAMES;
  const found = frames > 0 ? await loudestOf(deps, roomId, frames, signal) : Buffer.alloc(0);
  const isKept = await deps.database.inWorkspace(workspaceId, (tx) => keepPeaks(tx, roomId, found));
  if (!isKept) throw notFound();
  return found;
}

async function loudestOf({ objects }: PeaksDeps, roomId: string, frames: number, signal: AbortSignal): Promise<Buffer> {
  try {
    return await loudestIn(await objects.get(recordingKey(roomId)), frames, signal);
  } catch (error) {
    if (error instanceof ObjectMissing) throw notFound();
    throw error;
  }
}

/** Of each part the loudest sample of either channel, one after the other, in a byte. */
async function loudestIn(content: AsyncIterable<Uint8Array>, frames: number, signal: AbortSignal): Promise<Buffer> {
  const parts = Math.min(FINEST, frames);
  const loudest = Buffer.alloc(2 * parts);
  let frame = -HEADER_FRAMES;
  let rest: Uint8Array = Buffer.alloc(0);
  for await (const chunk of content) {
    await soundFirst();
    refuseIfGone(signal);
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % FRAME_BYTES);
    for (let at = 0; at < whole; at += FRAME_BYTES, frame += 1) {
      if (frame < 0 || frame >= frames) continue;
      const part = 2 * Math.floor((frame * parts) / frames);
      for (const channel of [0, 1]) {
        const level = levelOf(bytes.readInt16LE(at + 2 * channel));
        if (level > loudest[part + channel]!) loudest[part + channel] = level;
      }
    }
    rest = bytes.subarray(whole);
  }
  return loudest;
}

const levelOf = (sample: number): number => Math.round((Math.abs(sample) * LOUDEST) / LOUDEST_SAMPLE);

/** Keeps them with the recording, while it is there. @returns whether it is */
async function keepPeaks({ db, workspaceId }: WorkspaceTx, roomId: string, peaks: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('call_recordings')
    .set({ peaks })
    .where('workspace_id', '=', workspaceId)
    .where('room_id', '=', roomId)
    .where('status', '=', 'stored')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Who has gone needs none, and others wait; a server that drains begins nothing long. */
function refuseIfGone(signal: AbortSignal): void {
  if (signal.aborted) throw new ServiceError('unavailable', 'The recording is not read to its end. Ask again.');
}

/** A channel in so many parts, or in as many as there are. */
function channelOf(peaks: Buffer, channel: number, points: number): number[] {
  const parts = peaks.length / 2;
  const length = Math.min(points, parts);
  return Array.from({ length }, (_, point) => {
    const end = Math.ceil(((point + 1) * parts) / length);
    let loudest = 0;
    for (let part = Math.floor((point * parts) / length); part < end; part += 1)
      loudest = Math.max(loudest, peaks[2 * part + channel]!);
    return Math.round((loudest * 1000) / LOUDEST) / 1000;
  });
}
