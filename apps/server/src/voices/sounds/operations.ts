import { listed } from '../../foundation/database/page.ts';
import type { Handlers } from '../../foundation/http/handler.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import { created, ok, replayable } from '../../foundation/values/success.ts';
import { auditOf } from '../../platform/journal/audit-of.ts';
import { createSound } from './create-sound.ts';
import { deleteSound } from './delete-sound.ts';
import type { SoundDeps } from './deps.ts';
import { shapeSound, withSoundUrl } from './sound.ts';
import { findSound, soundPage } from './store.ts';

/** The operations of the tag "Sounds". */
export function soundOperations(deps: SoundDeps) {
  const { database, objects } = deps;
  return {
    listSounds: async ({ query }, { workspaceId }) =>
      ok(await listed(database, workspaceId, query, soundPage, shapeSound)),

    createSound: async ({ body, headers }, context) => {
      const key = headers['Idempotency-Key'];
      const { made, replayed } = await createSound(deps, context.workspaceId, body, auditOf(context), key);
      return replayable(created(await withSoundUrl(objects, made)), replayed);
    },

    getSound: async ({ path }, { workspaceId }) => {
      const id = fromId(path.soundId);
      const found = await existing(database.inWorkspace(workspaceId, (tx) => findSound(tx, id)));
      return ok(await withSoundUrl(objects, found));
    },

    deleteSound: async ({ path }, context) => {
      const auditEntry = auditOf(context)('sound.deleted', 'sound', path.soundId);
      await deleteSound(deps, context.workspaceId, fromId(path.soundId), auditEntry);
      return ok({ id: path.soundId, deleted: true as const });
    },
  } satisfies Partial<Handlers>;
}
