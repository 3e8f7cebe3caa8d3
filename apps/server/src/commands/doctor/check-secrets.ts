import { rotateKey } from '../rotate-key.ts';
import { type Finding, mend, note } from './finding.ts';
import type { Opened } from './opened.ts';

/** Asks, while there is a second key, whether it is still needed. */
export async function checkSecrets({ database, keys }: Opened): Promise<Finding[]> {
  if (!keys || keys.length === 1) return [];
  const { moved, unreadable, unreadableCount } = await rotateKey(database, keys, true);
  if (unreadableCount > 0)
    return [mend('secrets', `No key that is set opens ${unreadableCount}, such as ${unreadable[0]}: set them again.`)];
  if (moved > 0) return [note('secrets', `${moved} are under ENCRYPTION_KEY_SECOND: run rotate-key.`)];
  return [note('secrets', 'None is under ENCRYPTION_KEY_SECOND: unset it, a day after rotate-key.')];
}
