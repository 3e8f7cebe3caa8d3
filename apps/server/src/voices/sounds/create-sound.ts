import { createHash, type Hash } from 'node:crypto';
import { BYTES_PER_MS } from '@trunkline/media';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { isKeyTaken, type Made, makeOnce } from '../../foundation/database/idempotency-keys.ts';
import type { FilePart } from '../../foundation/http/handler.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { soundFirst } from '../../foundation/values/sound-first.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { Coming } from '../../platform/workspace/coming-files.ts';
import { lockStorage, readStorage, refuseFull, roomIn, storageFull } from '../../platform/workspace/storage.ts';
import { fileNameOf } from '../knowledge-bases/file-name.ts';
import type { SoundDeps } from './deps.ts';
import { eraseUnlessThere } from './erase-sounds.ts';
import { type SoundRow, soundKey } from './sound.ts';
import { countSounds, findSound } from './store.ts';
import { openWav, ulawFileBytes, ulawHeader, type Wav, WavFault } from './wav.ts';

const MOST_SOUNDS = 1000;
/** Five minutes of 48 kHz in stereo, as samples of 32 bits, and what stands around them. */
const MOST_BYTES = 150_000_000;
const LONGEST_MS = 300_000;
/** An upload lasts an hour at most (`foundation/http/listen.ts`); its file is nobody's after that. */
const ABANDONED_AFTER_SECONDS = 2 * 3600;

const operation = 'createSound';

/** What was sent, as far as it is known. */
interface Sent {
  fileName: string;
  /** Of its content. */
  sha256: Hash;
  /** Of what is kept of it; nothing if it is kept already. */
  samples?: number;
}

/**
 * Takes a sound from a request: turns it into µ-law while it comes, and keeps that.
 * @throws `invalid_request` for what is no sound; `payload_too_large`; `limit_reached`; `idempotency_key_reused`
 */
export async function createSound(
  deps: SoundDeps,
  workspaceId: string,
  files: AsyncIterable<FilePart>,
  auditOf: AuditOf,
  key?: string,
): Promise<Made<SoundRow>> {
  const { database, jobs } = deps;
  const { storage, isRepeated } = await database.inSnapshot(workspaceId, async (tx) => {
    const repeated = key !== undefined && (await isKeyTaken(tx, { operation, key }));
    if (!repeated) await refuseMore(tx);
    return { storage: await readStorage(tx, workspaceId, deps.storageMaxBytes), isRepeated: repeated };
  });
  if (!isRepeated) refuseFull(storage);
  const id = newUuid();
  const coming = deps.coming.enter(workspaceId, roomIn(storage));
  let isKept = false;
  try {
    if (!isRepeated)
      await database.inWorkspace(workspaceId, (tx) => eraseUnlessThere(jobs, tx, id, ABANDONED_AFTER_SECONDS));
    const full = () => new ServiceError('limit_reached', storageFull(storage));
    // What is sent again is there already: it is only compared.
    const sent = await takeOne(files, (content) =>
      isRepeated ? undefined : keep(deps, { id, coming, full }, content),
    );
    const made = await commit(deps, workspaceId, { id, key }, sent, auditOf);
    isKept = !made.replayed;
    return made;
  } finally {
    coming.leave(isKept);
    if (!isKept && !isRepeated)
      await database.inWorkspace(workspaceId, (tx) => eraseUnlessThere(jobs, tx, id)).catch(() => undefined);
  }
}

/** The one file of a request, read to its end. */
async function takeOne(
  files: AsyncIterable<FilePart>,
  take: (content: AsyncIterable<Uint8Array>) => Promise<number> | undefined,
): Promise<Sent> {
  let sent: Sent | undefined;
  for await (const { name, fileName, content } of files) {
    if (name !== 'file' || sent) throw refusal('must come as one part named file');
    sent = { fileName: fileNameOf(fileName), sha256: createHash('sha256') };
    const bytes = measured(content, sent.sha256);
    const samples = await take(bytes);
    if (samples !== undefined) sent.samples = samples;
    for await (const _ of bytes);
  }
  if (!sent) throw refusal('is required');
  return sent;
}

/** Passes on what comes; it goes on if who reads it stops. */
function measured(content: AsyncIterable<Uint8Array>, sha256: Hash): AsyncIterable<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]();
  let bytes = 0;
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    const each = await chunks.next();
    if (each.done) return each;
    bytes += each.value.length;
    if (bytes > MOST_BYTES)
      throw new ServiceError('payload_too_large', `The file is larger than ${MOST_BYTES / 1_000_000} MB.`);
    sha256.update(each.value);
    await soundFirst();
    return each;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** @returns how many samples are kept */
async function keep(
  { objects }: SoundDeps,
  { id, coming, full }: { id: string; coming: Coming; full: () => ServiceError },
  content: AsyncIterable<Uint8Array>,
): Promise<number> {
  try {
    const wav = await openWav(content);
    const { samples } = wav;
    if (samples === undefined) throw new WavFault('must be a WAV file that tells how long it is');
    if (samples > LONGEST_MS * BYTES_PER_MS)
      throw new ServiceError('payload_too_large', `The sound is longer than ${LONGEST_MS / 60_000} minutes.`);
    await objects.put(soundKey(id), coming.counted(fileOf(wav, samples), full), ulawFileBytes(samples));
    return samples;
  } catch (error) {
    throw error instanceof WavFault ? refusal(error.message) : error;
  }
}

async function* fileOf(wav: Wav, samples: number): AsyncGenerator<Buffer> {
  yield ulawHeader(samples);
  yield* wav.ulaw();
}

async function commit(
  { database, clock, storageMaxBytes }: SoundDeps,
  workspaceId: string,
  { id, key }: { id: string; key: string | undefined },
  { fileName, sha256, samples }: Sent,
  auditOf: AuditOf,
): Promise<Made<SoundRow>> {
  const now = clock.now();
  const request = { fileName, sha256: sha256.digest('hex') };
  const named = key ? { operation, key, request, resourceId: id, now } : undefined;
  return database.inWorkspace(workspaceId, (tx) => {
    const make = async () => {
      // The key became free while the file came.
      if (samples === undefined) throw new ServiceError('unavailable', 'Send the request again.');
      const bytes = ulawFileBytes(samples);
      refuseFull(await lockStorage(tx, workspaceId, storageMaxBytes), bytes);
      await refuseMore(tx);
      const row = await tx.db
        .insertInto('sounds')
        .values({
          ...{ workspace_id: workspaceId, id, name: fileName, created_at: now },
          duration_ms: Math.max(1, Math.round(samples / BYTES_PER_MS)),
          size_bytes: bytes,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await audit(tx, auditOf('sound.created', 'sound', toId('snd', id)), now);
      return row;
    };
    return makeOnce(tx, named, make, (made) => existing(findSound(tx, made)));
  });
}

async function refuseMore(tx: WorkspaceTx): Promise<void> {
  if ((await countSounds(tx)) < MOST_SOUNDS) return;
  throw new ServiceError('limit_reached', 'A workspace has at most 1,000 sounds. Delete some.');
}

const refusal = (message: string) =>
  new ServiceError('invalid_request', `body/file ${message}`, { details: [{ path: '/body/file', message }] });
