import type { Row } from '../../foundation/database/schema.ts';
import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type SoundRow = Row<'sounds'>;
export type Sound = components['schemas']['Sound'];

/** Where the object store keeps a sound. */
export const soundKey = (id: string): string => `sounds/${id}.wav`;

const VALID_SECONDS = 3600;

/** A sound as clients see it in lists. */
export const shapeSound = (row: SoundRow): Sound => ({
  id: toId('snd', row.id),
  name: row.name,
  durationMs: row.duration_ms,
  sizeBytes: row.size_bytes,
  createdAt: row.created_at.toISOString(),
});

/** A sound with the URL that plays it. */
export async function withSoundUrl(objects: Pick<ObjectStore, 'downloadUrl'>, row: SoundRow): Promise<Sound> {
  const fileName = `${toId('snd', row.id)}.wav`;
  const options = { fileName, contentType: 'audio/wav', expiresInSeconds: VALID_SECONDS };
  return { ...shapeSound(row), url: await objects.downloadUrl(soundKey(row.id), options) };
}
