/// <reference lib="es2024.string" />
const LONGEST = 255;
const UNNAMED = 'document';

/** Control characters, and those that turn the direction of text, which make a name look like another one. */
const UNSEEN = /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/**
 * A file's name as it is kept: the last part of a path, without characters that nobody sees, at most 255 characters with
 * its extension. `document` where nothing is left.
 */
export function fileNameOf(sent: string | undefined): string {
  const base = (sent ?? '').split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const name = base.toWellFormed().normalize('NFC').replace(UNSEEN, '').trim();
  if (/^\.*$/.test(name)) return UNNAMED;
  if (name.length <= LONGEST) return name;
  const extension = name.match(/\.[^.]{1,16}$/)?.[0] ?? '';
  return name.slice(0, LONGEST - extension.length).replace(/\p{Surrogate}$/u, '') + extension;
}
