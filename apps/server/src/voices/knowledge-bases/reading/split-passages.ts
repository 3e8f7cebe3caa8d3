/** A passage is filled up to the first, and never over the second, in UTF-16 units. */
const FULL = 1000;
const LONGEST = 1200;
/** A section begins a new passage, unless the last one is shorter than this. */
const SHORT = 300;

/**
 * Splits text into passages: along sections (a form feed, or two empty lines), paragraphs, lines, sentences and words, in
 * this order, never within a word unless it is longer than a passage.
 */
export function* splitPassages(text: string): Generator<string> {
  let passage = '';
  for (const section of text.split(/\f|\n{3,}/)) {
    if (passage.length >= SHORT) {
      yield passage;
      passage = '';
    }
    for (const piece of piecesOf(section)) {
      const joined = passage === '' ? piece : `${passage}\n\n${piece}`;
      if (joined.length <= FULL || passage === '') {
        passage = joined;
        continue;
      }
      yield passage;
      passage = piece;
    }
  }
  if (passage !== '') yield passage;
}

/** The paragraphs of a section, in pieces that fit into a passage. */
function* piecesOf(section: string): Generator<string> {
  for (const paragraph of section.split(/\n\s*\n/)) {
    let rest = paragraph.trim();
    while (rest.length > LONGEST) {
      const end = breakIn(rest);
      yield rest.slice(0, end).trimEnd();
      rest = rest.slice(end).trimStart();
    }
    if (rest !== '') yield rest;
  }
}

const BREAKS = [/\n/g, /[.!?…。！？]["'”’)\]]?\s|[。！？]/g, /\s/g];

/** Where to break a text that is too long: at the last good place that leaves enough before it. */
function breakIn(text: string): number {
  const start = text.slice(0, FULL);
  for (const pattern of BREAKS) {
    const last = [...start.matchAll(pattern)].at(-1);
    const end = last ? last.index + last[0].length : 0;
    if (end >= FULL / 2) return end;
  }
  const anySpace = start.search(/\s\S*$/);
  if (anySpace > 0) return anySpace;
  return /\p{Surrogate}$/u.test(start) ? FULL - 1 : FULL;
}
