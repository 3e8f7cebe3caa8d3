import { writeFileSync } from 'node:fs';
import { allLocales, type LocaleDefinition } from '@faker-js/faker';
import iconv from 'iconv-lite';
import {
  type CodePage,
  LANGUAGES,
  lettersOf,
  pairsOf,
} from '../../../../src/audience/contact-lists/reading/code-pages.ts';

/** Faker's names of people, places and things of each language; those of CLDR, which Node.js bears, come to them. */
const LOCALES: Partial<Record<string, (keyof typeof allLocales)[]>> = {
  de: ['de', 'de_AT', 'de_CH'],
  fr: ['fr', 'fr_BE', 'fr_CA', 'fr_CH'],
  es: ['es', 'es_MX'],
  pt: ['pt_BR', 'pt_PT'],
  it: ['it'],
  nl: ['nl', 'nl_BE'],
  da: ['da'],
  sv: ['sv'],
  fi: ['fi'],
  nb: ['nb_NO'],
  pl: ['pl'],
  cs: ['cs_CZ'],
  hu: ['hu'],
  ro: ['ro', 'ro_MD'],
  hr: ['hr'],
  sk: ['sk'],
  'sr-Latn': ['sr_RS_latin'],
  tr: ['tr'],
  ru: ['ru'],
  uk: ['uk'],
  el: ['el'],
  he: ['he'],
  ar: ['ar'],
  fa: ['fa'],
  lv: ['lv'],
  th: ['th'],
  ja: ['ja'],
  zh: ['zh_CN'],
  'zh-Hant': ['zh_TW'],
  ko: ['ko'],
};
const PARTS = ['person', 'location', 'date', 'company', 'commerce'] as const;
/** Levels of likelihood that are kept apart, each so many times less likely than the one before. */
const LEVELS = 8;
const STEP = 0.9;

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (!value.includes('{{')) yield value;
  } else if (value && typeof value === 'object') for (const each of Object.values(value)) yield* stringsIn(each);
}

function* namesOf(language: string): Generator<string> {
  for (const locale of LOCALES[language] ?? []) {
    const definition: LocaleDefinition = allLocales[locale];
    for (const part of PARTS) yield* stringsIn(definition[part]);
  }
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  for (const type of ['region', 'language'] as const) {
    const names = new Intl.DisplayNames(language, { type, fallback: 'none' });
    for (const code of codes) yield names.of(type === 'region' ? code.toUpperCase() : code) ?? '';
  }
  for (let month = 0; month < 12; month += 1) {
    yield new Date(2026, month, 1).toLocaleString(language, { month: 'long' });
    yield new Date(2026, 0, month + 1).toLocaleString(language, { weekday: 'long' });
  }
}

/** Distinct words that the code page can write. Romanian's comma below is a cedilla there. */
function wordsOf(language: string, codePage: CodePage): Set<string> {
  const words = new Set<string>();
  for (const name of namesOf(language)) {
    const text = name.normalize('NFC').replace(/[țșȚȘ]/g, (letter) => 'ţşŢŞ'['țșȚȘ'.indexOf(letter)]!);
    for (const word of lettersOf(text)) {
      if (iconv.decode(iconv.encode(word, codePage), codePage) === word) words.add(word);
    }
  }
  return words;
}

function pairsOfLanguage(language: string, codePage: CodePage): string[] {
  const pairs = new Map<string, number>();
  const begun = new Map<string, number>();
  let all = 0;
  const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const word of wordsOf(language, codePage)) {
    for (const letter of ` ${word.toLowerCase()}`) count(begun, letter);
    for (const pair of pairsOf(word)) {
      count(pairs, pair);
      all += 1;
    }
  }
  const levels: string[][] = Array.from({ length: LEVELS }, () => []);
  for (const [pair, times] of pairs) {
    const chance = pair.length === 1 ? (times + 0.5) / (all + 1000) : times / (begun.get(pair[0]!)! + 50);
    levels[Math.min(LEVELS - 1, Math.floor(-Math.log(chance) / STEP))]!.push(pair);
  }
  return levels.map((level) => level.sort().join(''));
}

const shown = (text: string) => `'${text.replaceAll("'", "\\'")}'`;

/** The file that is made. */
export const lettersFile = new URL(
  '../../../../src/audience/contact-lists/reading/generated/letter-pairs.ts',
  import.meta.url,
);

/** What it holds, by the names that this Node.js and Faker have. */
export function letterPairs(): string {
  const lines = Object.entries(LANGUAGES).map(
    ([language, codePage]) =>
      `  '${language}': [\n${pairsOfLanguage(language, codePage)
        .map((level) => `    ${shown(level)},\n`)
        .join('')}  ],\n`,
  );
  const head = `// Made by test/audience/contact-lists/files/make-letter-pairs.ts from names of people and places (Faker, CLDR).
/** How much less likely the pairs of one level are than those of the level before, as a logarithm. */
export const STEP = ${STEP};
/** By language, the pairs of letters that its words hold, the likeliest level first. Of Chinese, Japanese and Korean single letters. */
export const LETTER_PAIRS: Readonly<Record<string, readonly string[]>> = {\n`;
  return `${head}${lines.join('')}};\n`;
}

if (import.meta.main) writeFileSync(lettersFile, letterPairs());
