import type { Speech } from '@trunkline/media';
import { Transcript } from './transcript.ts';

/** A turn that changes is told this often, in milliseconds. */
const EVERY_MS = 100;

/**
 * A transcript whose turns are told while they are said, if somebody follows the call. At its end all that is said is told
 * at once, and no later.
 */
export function transcriptFor(speech: Pick<Speech, 'ask'>, isFollowed = false): Transcript {
  if (!isFollowed) return new Transcript();
  const changed = new Set<string>();
  const transcript = new Transcript((item) => {
    if (changed.size === 0) setTimeout(tell, EVERY_MS).unref();
    changed.add(item);
  });
  const tell = () => {
    for (const item of changed) void speech.ask({ type: 'turn', item, turn: transcript.turn(item) }).catch(() => {});
    changed.clear();
  };
  return transcript;
}
