import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { findSound } from './store.ts';

/**
 * Throws `invalid_request` for what is to be said and never would be, and `not_found` for a sound that the workspace doesn't
 * have.
 */
export async function checkVoicemail(
  tx: WorkspaceTx,
  voicemail: components['schemas']['CallVoicemail'] | null | undefined,
): Promise<void> {
  const { action, soundId, text } = voicemail ?? {};
  if (soundId !== undefined && text !== undefined) refuse('text', 'A message is a sound or a text, not both.');
  const said = soundId === undefined ? text && 'text' : 'soundId';
  if (said && action !== 'leave_message') refuse(said, `Only leave_message takes a ${said}.`);
  if (soundId === undefined || (await findSound(tx, fromId(soundId)))) return;
  const message = 'There is no such sound.';
  throw new ServiceError('not_found', message, { details: [{ path: '/body/voicemail/soundId', message }] });
}

function refuse(field: string, message: string): never {
  throw new ServiceError('invalid_request', message, { details: [{ path: `/body/voicemail/${field}`, message }] });
}
