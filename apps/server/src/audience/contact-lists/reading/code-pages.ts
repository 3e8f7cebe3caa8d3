/** What a text may be written in that does not say so. */
export const CODE_PAGES = [
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'windows-1255',
  'windows-1256',
  'windows-1257',
  'windows-874',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
  'koi8-r',
  'ibm866',
  'iso-8859-2',
  'euc-jp',
  'macintosh',
] as const;
export type CodePage = (typeof CODE_PAGES)[number];

/** The languages that are known by their pairs of letters, and the code page of their Windows. */
export const LANGUAGES = {
  de: 'windows-1252',
  fr: 'windows-1252',
  es: 'windows-1252',
  pt: 'windows-1252',
  it: 'windows-1252',
  nl: 'windows-1252',
  da: 'windows-1252',
  sv: 'windows-1252',
  fi: 'windows-1252',
  nb: 'windows-1252',
  is: 'windows-1252',
  ca: 'windows-1252',
  pl: 'windows-1250',
  cs: 'windows-1250',
  hu: 'windows-1250',
  ro: 'windows-1250',
  hr: 'windows-1250',
  sk: 'windows-1250',
  sl: 'windows-1250',
  'sr-Latn': 'windows-1250',
  ru: 'windows-1251',
  uk: 'windows-1251',
  bg: 'windows-1251',
  sr: 'windows-1251',
  be: 'windows-1251',
  el: 'windows-1253',
  tr: 'windows-1254',
  he: 'windows-1255',
  ar: 'windows-1256',
  fa: 'windows-1256',
  lv: 'windows-1257',
  lt: 'windows-1257',
  et: 'windows-1257',
  th: 'windows-874',
  ja: 'shift_jis',
  zh: 'gb18030',
  'zh-Hant': 'big5',
  ko: 'euc-kr',
} as const satisfies Record<string, CodePage>;

/** Code pages of other systems, by those of Windows for the same languages. */
const OF_OTHER_SYSTEMS: Partial<Record<CodePage, CodePage>> = {
  'koi8-r': 'windows-1251',
  ibm866: 'windows-1251',
  'iso-8859-2': 'windows-1250',
  'euc-jp': 'shift_jis',
  macintosh: 'windows-1252',
};

/** The code page of Windows for the languages of another one; itself if it is one of Windows. */
export const windowsPage = (page: CodePage): CodePage => OF_OTHER_SYSTEMS[page] ?? page;

/** Titles of columns in ASCII, which show whose spreadsheet wrote a file. */
const TITLES: readonly (readonly [CodePage, string])[] = [
  ['windows-1252', 'vorname nachname strasse ort plz kunde rufnummer handy nom prenom ville adresse portable'],
  ['windows-1252', 'nombre nombres apellido apellidos ciudad direccion nome sobrenome cidade cognome cellulare'],
  ['windows-1252', 'naam voornaam achternaam plaats namn fornamn efternamn stad navn fornavn efternavn etternavn'],
  ['windows-1252', 'etunimi sukunimi puhelin kaupunki'],
  ['windows-1250', 'imie nazwisko miasto ulica jmeno prijmeni mesto ulice priezvisko nev varos telefonszam'],
  ['windows-1250', 'nume prenume oras localitate ime prezime priimek'],
  ['windows-1254', 'ad adi soyad soyadi sehir ceptelefonu'],
  ['windows-1257', 'vardas pavarde miestas vards uzvards pilseta eesnimi perenimi linn'],
];

/** The code page of some titles' languages; nothing if they are of none, or of several. */
export function codePageOfTitles(line: string): CodePage | undefined {
  const titles = new Set(line.toLowerCase().split(/[^a-z]+/));
  const found = TITLES.filter(([, words]) => words.split(' ').some((word) => titles.has(word)));
  const pages = new Set(found.map(([page]) => page));
  return pages.size === 1 ? [...pages][0] : undefined;
}

const COUNTRIES: Partial<Record<CodePage, string>> = {
  'windows-1250': 'PL CZ SK HU RO HR SI',
  'windows-1251': 'RU UA BY BG MK KZ',
  'windows-1253': 'GR CY',
  'windows-1254': 'TR',
  'windows-1255': 'IL',
  'windows-1256': 'AE BH DZ EG IQ IR JO KW LB LY MA OM QA SA SY TN YE',
  'windows-1257': 'EE LV LT',
  'windows-874': 'TH',
  shift_jis: 'JP',
  gb18030: 'CN SG',
  big5: 'TW HK MO',
  'euc-kr': 'KR',
};
/** Serbs and others write in two. */
const UNDECIDED = 'RS BA ME MD';

/** The code page of a country's Windows; nothing if it has several. */
export function codePageOfCountry(country: string): CodePage | undefined {
  if (UNDECIDED.includes(country)) return undefined;
  return CODE_PAGES.find((page) => COUNTRIES[page]?.split(' ').includes(country)) ?? 'windows-1252';
}

const LETTERS = /[\p{L}\p{M}]+/gu;
/** Letters of scripts that have too many of them for pairs. */
export const IDEOGRAPH = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const isAscii = (character: string): boolean => character <= '\x7f';

/** The words of a text, of letters alone. */
export function* lettersOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(LETTERS)) yield word;
}

/** The pairs of neighbours of a word in which one is outside ASCII, its ends among them. */
export function pairsOf(word: string): string[] {
  const letters = ` ${word.toLowerCase()} `;
  const pairs: string[] = [];
  for (let at = 1; at < letters.length; at += 1) {
    const [before, letter] = [letters[at - 1]!, letters[at]!];
    if (IDEOGRAPH.test(letter)) pairs.push(letter);
    else if (!IDEOGRAPH.test(before) && !(isAscii(before) && isAscii(letter))) pairs.push(before + letter);
  }
  return pairs;
}
