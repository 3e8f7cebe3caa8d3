/**
 * A share of one, from 0 up to 1, that is always the same for a key and as good as random between keys: it spreads what
 * would else fall due at once, and whoever asks later can tell why it was due then. FNV-1a, its bits mixed once more.
 */
export function spread(...key: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of key.join(' ')) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
