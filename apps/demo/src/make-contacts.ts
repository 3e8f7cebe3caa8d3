// Writes contacts.csv, the same one each time: node src/make-contacts.ts
// All numbers are kept for examples and films, so that nobody has them: +1 NPA 555-01XX, Ofcom's and BNetzA's drama
// numbers. The simulator's magic numbers are left out; the outcomes come from its seed.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

const ROWS = 1000;

const first =
  `Ana Ben Carla David Elif Femi Grace Hiro Ines Jamal Karin Liam Mei Noah Olga Priya Quinn Rosa Sam Tomás Uma Victor
Wanda Xin Yusuf Zoë Amélie Bjørn Chloé Dmitri Esther Fatima Georg Hannah Idris Jürgen Katya Lucía Mateus Nadia`.split(
    /\s+/,
  );
const last =
  `Ruiz Okafor Schneider Nguyen Patel O'Brien García Kowalski Haddad Tanaka Silva Johnson Müller Rossi Novák Kim Adeyemi
Larsen Dubois Fischer Martínez Singh Walker Young Iyer Becker Costa Evans Moreau Petrov Reed Santos Weiß Zhang`.split(
    /\s+/,
  );
const reasons = [
  'check-up',
  'dental cleaning',
  'blood test',
  'eye test',
  'vaccination',
  'physiotherapy',
  'X-ray, left knee',
];

const american: [city: string, areaCode: string, timezone: string][] = [
  ['San Francisco', '415', 'America/Los_Angeles'],
  ['Los Angeles', '213', 'America/Los_Angeles'],
  ['Seattle', '206', 'America/Los_Angeles'],
  ['Denver', '303', 'America/Denver'],
  ['Austin', '512', 'America/Chicago'],
  ['Chicago', '312', 'America/Chicago'],
  ['Atlanta', '404', 'America/New_York'],
  ['Boston', '617', 'America/New_York'],
  ['New York', '212', 'America/New_York'],
  ['Miami', '305', 'America/New_York'],
  ['Portland', '503', 'America/Los_Angeles'],
];
const british: [city: string, prefix: string][] = [
  ['London', '20 7946 0'],
  ['Leeds', '113 496 0'],
  ['Manchester', '161 496 0'],
];
const german: [city: string, prefix: string][] = [
  ['Berlin', '30 23125 '],
  ['Hamburg', '40 66969 '],
  ['München', '89 99998 '],
];
const magic = new Set([
  100, 101, 102, 103, 104, 108, 117, 150, 151, 152, 153, 154, 155, 156, 157, 160, 172, 173, 186, 190,
]);

/** Cells in the phone column that nobody can call. */
const broken = [
  '',
  'n/a',
  'ask his wife',
  '4.15556E+09',
  '555-0143',
  '(415) 555-0121 ext. 12',
  '+1 415 555 01',
  '911',
  '+44 20 7946',
  '(415) 555-0133 or (415) 555-0134',
  '000-000-0000',
  '+999 30 23125 001',
  'unknown',
  '(041) 555-0122',
  '+1 555 555 5555',
  '-',
  'see file',
  '12345',
];
const DUPLICATES = 12;

/** Numbers in [0, 1), the same ones each time (mulberry32). */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Person {
  name: string;
  city: string;
  timezone: string;
  /** The number in the ways that people write it. */
  forms: string[];
}

const threeDigits = (number: number) => String(number).padStart(3, '0');

function americanForms(areaCode: string, line: number): string[] {
  const digits = `0${line}`;
  return [
    `+1${areaCode}555${digits}`,
    `(${areaCode}) 555-${digits}`,
    `${areaCode}-555-${digits}`,
    `${areaCode}.555.${digits}`,
    `+1 ${areaCode} 555 ${digits}`,
    `1-${areaCode}-555-${digits}`,
  ];
}

const abroad = (callingCode: string, prefix: string, line: number): string[] => {
  const spaced = `+${callingCode} ${prefix}${threeDigits(line)}`;
  return [spaced, spaced.replaceAll(' ', ''), `00${spaced.slice(1)}`];
};

/** Everyone who has a number of their own, in a mixed order. */
function people(chance: () => number): Person[] {
  const places: Omit<Person, 'name'>[] = [];
  for (const [city, areaCode, timezone] of american) {
    for (let line = 100; line < 200; line += 1) {
      if (!magic.has(line)) places.push({ city, timezone, forms: americanForms(areaCode, line) });
    }
  }
  for (const [city, prefix] of british) {
    for (let line = 0; line < 40; line += 1) {
      places.push({ city, timezone: 'Europe/London', forms: abroad('44', prefix, line) });
    }
  }
  for (const [city, prefix] of german) {
    for (let line = 0; line < 30; line += 1) {
      places.push({ city, timezone: 'Europe/Berlin', forms: abroad('49', prefix, line) });
    }
  }
  const pick = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)]!;
  return places
    .map((place) => ({ order: chance(), place }))
    .sort((a, b) => a.order - b.order)
    .map(({ place }) => ({ ...place, name: `${pick(first)} ${pick(last)}` }));
}

const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The file's text. */
export function makeContacts(): string {
  const chance = chances(20_261_120);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(chance() * of.length)]!;
  const all = people(chance);
  const spread = (count: number, offset: number) =>
    new Set(Array.from({ length: count }, (_, index) => Math.floor(((index + offset) * ROWS) / count)));
  const brokenRows = spread(broken.length, 0.4);
  const duplicateRows = spread(DUPLICATES, 0.7);
  const faults = broken.values();
  const lines = ['name,phone_number,city,timezone,reason,appointment'];
  const earlier: Person[] = [];
  for (let row = 0; row < ROWS; row += 1) {
    const isBroken = brokenRows.has(row);
    const person = duplicateRows.has(row) && !isBroken ? pick(earlier) : all[row]!;
    const number = isBroken ? faults.next().value! : pick(person.forms);
    if (!isBroken) earlier.push(person);
    const day = String(1 + Math.floor(chance() * 18)).padStart(2, '0');
    const appointment = `2026-12-${day} ${String(8 + Math.floor(chance() * 9)).padStart(2, '0')}:${pick(['00', '15', '30', '45'])}`;
    lines.push([person.name, number, person.city, person.timezone, pick(reasons), appointment].map(cell).join(','));
  }
  return `${lines.join('\n')}\n`;
}

if (import.meta.main) writeFileSync(path.join(import.meta.dirname, '../contacts.csv'), makeContacts());
