import {
  CODE_PAGES,
  type CodePage,
  codePageOfCountry,
  codePageOfTitles,
  IDEOGRAPH,
  LANGUAGES,
  pairsOf,
  windowsPage,
} from './code-pages.ts';
import { LETTER_PAIRS, STEP } from './generated/letter-pairs.ts';

/** What else than the text itself may tell in which code page it is written. */
export interface EncodingHints {
  /** The file's first line, if it is ASCII. */
  firstLine?: string | undefined;
  /** ISO 3166-1 alpha-2: where its people are. */
  country?: string | undefined;
}

/** A reading of a text, and a word of it that the other readings show otherwise. */
export interface Reading {
  encoding: CodePage;
  word: string;
}

/** In which code page a text is, and how certain that is from 0 to 1; or the readings that are all likely. */
export type Detected = { encoding: CodePage; certainty: number } | { readings: Reading[] };

/** Logarithms of how likely these are. */
const UNSEEN_PAIR = -9;
const UNSEEN_IDEOGRAPH = -12;
const SYMBOL = -20;
const PUNCTUATION = -4;
const MIXED_SCRIPTS = -10;
const CAPITAL_INSIDE = -5;
const TITLE = 8;
const COUNTRY = 3;
/** What one language for all words counts at most, and a word that is foreign to it. */
const LANGUAGE = 3;
const MOST_FOREIGN = 8;
const MOST_FILES: CodePage = 'windows-1252';
const MOST = 2;
const OTHER_SYSTEM = -3;
/** A reading is taken if it is more likely than any other by so much. */
const MARGIN = 7;
const MOST_WORDS = 400;
/** Of a longer word what stands around its first letter outside ASCII tells enough, in letters. */
const LONGEST_WORD = 64;
const MOST_READINGS = 3;
const SHOWN_LETTERS = 40;

const WORD = /(?:[A-Za-z]|\P{ASCII})+/gu;
const NO_LETTERS = /[^\p{L}\p{M}]/gu;
const OTHER_SCRIPT = String.raw`(?=[\p{L}\p{Co}])\P{Script=Latin}`;
const TWO_SCRIPTS = new RegExp(`[A-Za-z]${OTHER_SCRIPT}|${OTHER_SCRIPT}[A-Za-z]`, 'u');
/** Those of names such as McKay stand in ASCII. */
const CAPITAL = /\p{Ll}(?![A-Z])\p{Lu}|\P{ASCII}(?<=\p{Ll})[A-Z]/u;
/** Quotes, dashes, the euro, no-break spaces, and what Asian texts write for spaces, commas and digits. */
const USUAL = /^[‘’“”–—…€°ºª\u00a0\u3000-\u3002\uff00-\uff5e]$/;

const APOSTROPHE = /[‘’ºª\u3000-\u3002\uff00-\uff5e]/;

type Language = ReadonlyMap<string, number>;

let known: Map<CodePage, Language[]> | undefined;

function languagesOf(page: CodePage): readonly Language[] {
  known ??= new Map(
    CODE_PAGES.map((each) => [
      each,
      Object.entries(LANGUAGES).flatMap(([language, of]) =>
        of === windowsPage(each) ? [likelyPairs(LETTER_PAIRS[language]!)] : [],
      ),
    ]),
  );
  return known.get(page)!;
}

/** Each pair of a language, or ideograph, and the logarithm of how likely it is. */
function likelyPairs(levels: readonly string[]): Language {
  const pairs = new Map<string, number>();
  for (const [level, text] of levels.entries()) {
    for (let at = 0; at < text.length; ) {
      const length = IDEOGRAPH.test(text[at]!) ? 1 : 2;
      pairs.set(text.slice(at, at + length), -(level + 0.5) * STEP);
      at += length;
    }
  }
  return pairs;
}

/** How likely a word is in each of some languages. */
function likelihoods(word: string, languages: readonly Language[]): number[] {
  let signs = 0;
  const letters = word.replace(NO_LETTERS, (sign, at: number) => {
    const isInside = at > 0 && at < word.length - 1 && !APOSTROPHE.test(sign);
    signs += USUAL.test(sign) && !isInside ? PUNCTUATION : SYMBOL;
    return ' ';
  });
  if (TWO_SCRIPTS.test(word)) signs += MIXED_SCRIPTS;
  if (CAPITAL.test(word)) signs += CAPITAL_INSIDE;
  const pairs = letters.split(' ').flatMap((part) => (part === '' ? [] : pairsOf(part)));
  return languages.map((language) =>
    pairs.reduce(
      (sum, pair) => sum + (language.get(pair) ?? (pair.length === 1 ? UNSEEN_IDEOGRAPH : UNSEEN_PAIR)),
      signs,
    ),
  );
}

/** A text as read in one code page: its words with letters outside ASCII, and how likely each is. */
interface Text {
  encoding: CodePage;
  text: string;
  words: Map<string, number>;
  /** What speaks for it beside its words. */
  hints: number;
  /** How likely all words are in the one language that they fit best. */
  inOneLanguage: number;
}

function readAs(encoding: CodePage, sample: Uint8Array, { firstLine, country }: EncodingHints): Text | undefined {
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(sample);
  } catch {
    return undefined;
  }
  if (/[\x80-\x9f]/.test(text)) return undefined;
  const languages = languagesOf(encoding);
  const words = new Map<string, number>();
  const inLanguage = languages.map(() => 0);
  for (const [found] of text.matchAll(WORD)) {
    const first = found.search(/\P{ASCII}/u);
    const from = Math.max(0, first - LONGEST_WORD / 2);
    const word = found.slice(from, from + LONGEST_WORD);
    if (first === -1 || words.has(word)) continue;
    const ofLanguages = likelihoods(word, languages);
    const best = Math.max(...ofLanguages);
    words.set(word, best - Math.log(languages.length));
    for (const [at, likely] of ofLanguages.entries()) inLanguage[at]! += Math.max(likely, best - MOST_FOREIGN);
    if (words.size === MOST_WORDS) break;
  }
  const ofTitles = codePageOfTitles(firstLine ?? text.slice(0, text.search(/[\r\n]|$/)));
  const ofCountry = country && codePageOfCountry(country);
  const page = windowsPage(encoding);
  const usual = encoding === MOST_FILES ? MOST : page === encoding ? 0 : OTHER_SYSTEM;
  const hints = (ofTitles === page ? TITLE : 0) + (ofCountry === page ? COUNTRY : 0) + usual;
  return { encoding, text, words, hints, inOneLanguage: Math.max(...inLanguage) };
}

/** By how much one text is likelier than another, by the words that they don't share. */
function lead(one: Text, other: Text): number {
  const ofLanguage = one.inOneLanguage - other.inOneLanguage;
  let sum = one.hints - other.hints + Math.max(-LANGUAGE, Math.min(LANGUAGE, ofLanguage));
  for (const [word, likely] of one.words) if (!other.words.has(word)) sum += likely;
  for (const [word, likely] of other.words) if (!one.words.has(word)) sum -= likely;
  return sum;
}

const sumOf = ({ words, hints }: Text): number => [...words.values()].reduce((sum, each) => sum + each, hints);

/** Whether more than half of what stands beside each other in a text does so in none of its languages. */
function isStrange({ encoding, words }: Text): boolean {
  let pairs = 0;
  let unseen = 0;
  for (const word of words.keys()) {
    const ofWord = pairsOf(word);
    pairs += ofWord.length;
    unseen += Math.min(
      ...languagesOf(encoding).map((language) => ofWord.filter((pair) => !language.has(pair) && !isUsual(pair)).length),
    );
  }
  return unseen > pairs / 2;
}

const isUsual = (pair: string): boolean => USUAL.test(pair.trim()[0] ?? '');

/**
 * Finds out in which code page a text is that is no UTF-8, by the letters that stand beside each other in the words of each
 * language, the titles of its columns, and the country of its people.
 * @param sample the part of the text that begins with letters outside ASCII, whole lines
 */
export function detectEncoding(sample: Uint8Array, hints: EncodingHints = {}): Detected {
  const texts = CODE_PAGES.flatMap((page) => readAs(page, sample, hints) ?? []);
  texts.sort((one, other) => sumOf(other) - sumOf(one));
  const best = texts.find((one) => texts.every((other) => one === other || lead(one, other) >= 0)) ?? texts[0];
  if (!best) return { readings: [] };
  const rivals = texts.filter(({ text }) => text !== best.text);
  const margin = Math.min(...rivals.map((rival) => lead(best, rival)));
  // Code pages that read it alike: the one of most files.
  const same = CODE_PAGES.find((page) => texts.some(({ encoding, text }) => encoding === page && text === best.text))!;
  if (margin >= MARGIN && !isStrange(best)) {
    return { encoding: same, certainty: Math.round(100 / (1 + Math.exp(-margin / 2))) / 100 };
  }
  rivals.sort((one, other) => lead(best, one) - lead(best, other));
  const likely = [best, ...rivals].filter(
    (one, at, all) => all.findIndex(({ text }) => text === one.text) === at && lead(best, one) < 3 * MARGIN,
  );
  const other = rivals[0]?.words;
  const position = [...best.words.keys()].findIndex((word) => !other?.has(word));
  return {
    readings: likely.slice(0, MOST_READINGS).map(({ encoding, words }) => ({
      encoding: encoding === best.encoding ? same : encoding,
      word: ([...words.keys()][Math.max(0, position)] ?? '').slice(0, SHOWN_LETTERS),
    })),
  };
}
