import { stat } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../../foundation/database/database.ts';
import { from } from '../../../foundation/database/moves.ts';
import { fileContent } from '../../../foundation/objects/file-content.ts';
import type { ObjectStore } from '../../../foundation/objects/object-store.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { lockStorage, roomIn } from '../../../platform/workspace/storage.ts';
import type { CallKey } from '../call.ts';
import type { RecordCallEvents } from '../call-events.ts';
import { recordingKey, recordingTransitions } from './recording.ts';
import type { RecordingFile, RecordingFiles } from './recording-files.ts';

/** What the keeping of recordings works with. */
export interface RecordingDeps {
  database: Database;
  objects: ObjectStore;
  files: RecordingFiles;
  clock: Clock;
  log: Logger;
  recordEvents: RecordCallEvents;
  /** For how long recordings are kept; for ever without it. */
  retentionDays: number | undefined;
  /** Most bytes of files that a workspace may keep; without it as many as it likes. */
  storageMaxBytes?: number | undefined;
}

const BYTES_PER_MS = 32;
/** A call of four hours, and some. */
const MAX_BYTES = 600_000_000;

/** Before the folder is looked at again, so many recordings of each workspace are stored, or a hundredth of all that wait. */
const LEAST_ROUND = 10;

/**
 * Notes the recordings that are being written, and hands those that are whole to the object store, of each workspace one in
 * turn. A store that can't be reached is tried again at the next time: the files stay until it has them. Servers may do it
 * at once.
 * @param signal ends it between two files
 */
export async function keepRecordings(deps: RecordingDeps, signal?: AbortSignal): Promise<void> {
  const { files } = deps;
  const [tried, noted] = [new Set<string>(), new Set<string>()];
  for (let hasMore = true; hasMore; ) {
    const found = (await files.list()).filter(({ path }) => !tried.has(path));
    await noteBegun(
      deps,
      found.filter(({ roomId }) => !noted.has(roomId)),
    );
    for (const { roomId } of found) noted.add(roomId);
    const next = nextInTurn(found.filter(({ stage }) => stage !== 'writing'));
    for (const file of next) {
      if (signal?.aborted) return;
      tried.add(file.path);
      await keep(deps, file);
    }
    hasMore = next.length > 0;
  }
}

/** The first files of each workspace, one of each after the other. */
function nextInTurn(found: readonly RecordingFile[]): RecordingFile[] {
  const round = Math.max(LEAST_ROUND, Math.ceil(found.length / 100));
  const turns = Array.from({ length: round }, (): RecordingFile[] => []);
  const taken = new Map<string, number>();
  for (const file of found) {
    const turn = taken.get(file.workspaceId) ?? 0;
    taken.set(file.workspaceId, turn + 1);
    turns[turn]?.push(file);
  }
  return turns.flat();
}

async function keep(deps: RecordingDeps, file: RecordingFile): Promise<void> {
  const { files, log } = deps;
  try {
    if (file.stage === 'failed') await fail(deps, file);
    else await store(deps, file);
    await files.remove(file);
  } catch (error) {
    log.warn({ err: error, roomId: file.roomId }, 'a recording could not be stored; it is tried again');
  }
}

async function noteBegun({ database, clock }: RecordingDeps, calls: readonly CallKey[]): Promise<void> {
  if (calls.length === 0) return;
  await database.inEngine((tx) =>
    sql`
      insert into call_recordings (workspace_id, room_id, status, created_at)
      select c.workspace_id, c.id, 'recording', ${clock.now()}
      from unnest(${calls.map((call) => call.workspaceId)}::uuid[], ${calls.map((call) => call.roomId)}::uuid[])
        as x (workspace_id, id)
      join calls c on c.workspace_id = x.workspace_id and c.id = x.id
      on conflict do nothing`.execute(tx.db),
  );
}

async function store(deps: RecordingDeps, file: RecordingFile): Promise<void> {
  const { database, objects, clock, recordEvents } = deps;
  const { workspaceId, roomId } = file;
  const { size } = await stat(file.path);
  const wanted = await hasPlace(deps, file, size);
  // What was deleted meanwhile, or stored before, must not come into the store once more: nobody would erase it.
  if (wanted === undefined) return;
  if (!wanted) return fail(deps, file, 'its workspace keeps as many bytes of files as it may');
  await objects.put(recordingKey(roomId), fileContent(file.path), MAX_BYTES);
  await database.inEngine(async (tx) => {
    const { rows } = await sql`
      update call_recordings set status = 'stored', stored_at = ${clock.now()}, size_bytes = ${size},
        duration_ms = ${Math.round(size / BYTES_PER_MS)}
      where workspace_id = ${workspaceId} and room_id = ${roomId}
        and status in ${from(recordingTransitions, 'stored')}
      returning room_id`.execute(tx.db);
    if (rows.length > 0) await recordEvents(tx, 'call.recorded', [file]);
  });
}

/**
 * Whether there is room for a recording, whose bytes count from then on; nothing where it is not wanted, or not any more.
 * The place of one that is being stored again is its own already.
 */
async function hasPlace(
  { database, storageMaxBytes }: RecordingDeps,
  { workspaceId, roomId }: CallKey,
  size: number,
): Promise<boolean | undefined> {
  return database.inEngine(async (tx) => {
    const recording = sql`workspace_id = ${workspaceId} and room_id = ${roomId}
      and status in ${from(recordingTransitions, 'stored')}`;
    const { rows } = await sql<{ size_bytes: number | null }>`
      select size_bytes from call_recordings where ${recording}`.execute(tx.db);
    if (!rows[0]) return undefined;
    if (storageMaxBytes === undefined || rows[0].size_bytes !== null) return true;
    if (roomIn(await lockStorage(tx, workspaceId, storageMaxBytes)) < size) return false;
    await sql`update call_recordings set size_bytes = ${size} where ${recording}`.execute(tx.db);
    return true;
  });
}

async function fail(
  { database, log }: RecordingDeps,
  { workspaceId, roomId }: CallKey,
  reason = 'it could not be written',
): Promise<void> {
  log.warn({ roomId, reason }, 'a recording has failed');
  await database.inEngine((tx) =>
    sql`
      update call_recordings set status = 'failed'
      where workspace_id = ${workspaceId} and room_id = ${roomId}
        and status in ${from(recordingTransitions, 'failed')}`.execute(tx.db),
  );
}
