import { allFakers } from '@faker-js/faker';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { CODE_PAGES, type CodePage } from './code-pages.ts';
import { detectEncoding, type EncodingHints } from './detect-encoding.ts';

const detected = (text: string, codePage: string, hints?: EncodingHints) =>
  detectEncoding(iconv.encode(text, codePage), hints);

/** Some lines as Excel saves them in a country: a header in its language, names and towns. */
const FILES: [CodePage, string][] = [
  ['windows-1252', 'Vorname;Nachname;Telefon;Ort\nJürgen;Groß;030 901820;Köln\nBjörn;Schäfer;030 901821;Gießen\n'],
  ['windows-1252', 'Prénom;Nom;Téléphone\nHélène;Lefèvre;0123456789\nFrançois;Châtelain;0123456788\n'],
  ['windows-1252', 'Nombre;Teléfono\nJosé Peña;910000000\nMaría Núñez;910000001\n'],
  ['windows-1250', 'Imię;Telefon;Miasto\nŁukasz Wiśniewski;221234567;Łódź\nZofia Dąbrowska;221234568;Gdańsk\n'],
  ['windows-1250', 'Jméno;Telefon\nTomáš Dvořák;221234567\nJiří Růžička;221234568\n'],
  ['windows-1251', 'Имя;Телефон\nИванов Пётр;4951234567\nЕкатерина Щукина;4951234568\n'],
  ['windows-1253', 'Όνομα;Τηλέφωνο\nΓιώργος Παπαδόπουλος;2101234567\n'],
  ['windows-1254', 'Ad Soyad;Telefon;Şehir\nAyşe Yılmaz;2121234567;İstanbul\nMuğla Çağrı;2121234568;Iğdır\n'],
  ['windows-1255', 'שם;טלפון\nיוסף כהן;021234567\nרבקה לוי;021234568\n'],
  ['windows-1256', 'الاسم;الهاتف\nمحمد علي;0112345678\nفاطمة حسن;0112345679\n'],
  ['windows-1257', 'Vardas;Telefonas\nŽydrūnas Šimkus;51234567\nGražina Čepaitė;51234568\n'],
  ['windows-874', 'ชื่อ;โทรศัพท์\nสมชาย ใจดี;021234567\n'],
  ['shift_jis', '氏名,電話番号\n山田太郎,0312345678\n鈴木花子,0312345679\n'],
  ['gb18030', '姓名,电话\n王小明,13800138000\n李娜,13800138001\n'],
  ['big5', '姓名,電話\n陳小明,0223456789\n林淑芬,0223456780\n'],
  ['euc-kr', '이름,전화번호\n김민수,0212345678\n박지영,0212345679\n'],
  ['koi8-r', 'Имя;Телефон\nИванов Пётр;4951234567\n'],
  ['ibm866', 'Имя;Телефон\nИванов Пётр;4951234567\nЕкатерина Щукина;4951234568\n'],
  ['iso-8859-2', 'Imię;Telefon\nŁukasz Wiśniewski;221234567\nŻółkiewska;221234568\n'],
  ['euc-jp', '氏名,電話番号\n山田太郎,0312345678\n鈴木花子,0312345679\n'],
  ['macintosh', 'Vorname;Telefon\nJürgen Groß;030 901820\nBjörn Schäfer;030 901821\n'],
];

describe('detectEncoding', () => {
  it.each(FILES)('knows %s: %s', (encoding, text) => {
    expect(detected(text, encoding)).toEqual({ encoding, certainty: expect.any(Number) });
  });

  it('is more certain of many words than of one', () => {
    const of = (text: string) => detected(text, 'windows-1252') as { certainty: number };
    expect(of('name\nJosé Peña\nMaría Núñez\nÍñigo Ordóñez').certainty).toBe(1);
    expect(of('nome;telefono\nNicolò').certainty).toBeLessThan(1);
  });

  it('asks if one word could be read in two ways, and takes titles and country for an answer', () => {
    const one = detected('name\nPatanè\n', 'windows-1252');
    const readings = [
      { encoding: 'windows-1250', word: 'Patanč' },
      { encoding: 'windows-1252', word: 'Patanè' },
    ];
    expect(one).toEqual({ readings: expect.arrayContaining(readings) });
    expect(detected('nome;cognome\nPatanè\n', 'windows-1252')).toMatchObject({ encoding: 'windows-1252' });
    expect(detected('name\nCalò\n', 'windows-1252', { country: 'IT' })).toMatchObject({ encoding: 'windows-1252' });
  });

  it('takes no text of another system for one of Windows in silence', () => {
    for (const [codePage, text] of [
      ['cp852', 'Imię;Telefon\nŁukasz Wiśniewski;221234567\nŻółkiewska;221234568\n'],
      ['cp850', 'Nombre;Teléfono\nMaría Núñez;910000001\n'],
    ] as const) {
      expect(detected(text, codePage)).toHaveProperty('readings');
    }
  });

  it.each([
    ['de', 'windows-1252'],
    ['fr', 'windows-1252'],
    ['es', 'windows-1252'],
    ['sv', 'windows-1252'],
    ['pl', 'windows-1250'],
    ['cs_CZ', 'windows-1250'],
    ['hu', 'windows-1250'],
    ['hr', 'windows-1250'],
    ['ru', 'windows-1251'],
    ['uk', 'windows-1251'],
    ['el', 'windows-1253'],
    ['tr', 'windows-1254'],
    ['he', 'windows-1255'],
    ['ar', 'windows-1256'],
    ['lv', 'windows-1257'],
    ['ja', 'shift_jis'],
    ['zh_CN', 'gb18030'],
    ['ko', 'euc-kr'],
  ] as const)('reads lists of 20 names of %s as they were written, or asks', (locale, codePage) => {
    const faker = allFakers[locale];
    let asked = 0;
    for (let seed = 0; seed < 20; seed += 1) {
      faker.seed(seed);
      const rows = Array.from({ length: 20 }, () => `${faker.person.lastName()};${faker.location.city()};030901820`);
      const bytes = iconv.encode(`Name;City;Phone\n${rows.join('\n')}`, codePage);
      const text = iconv.decode(bytes, codePage);
      if (/^\p{ASCII}*$/u.test(text)) continue;
      const found = detectEncoding(bytes);
      if ('readings' in found) asked += 1;
      else expect(new TextDecoder(found.encoding).decode(bytes)).toBe(text);
    }
    expect(asked).toBeLessThanOrEqual(4);
  });

  it('answers for any bytes, and by what it says they can be read', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.constantFrom(undefined, 'PL', 'JP'),
        (bytes, country) => {
          const found = detectEncoding(bytes, { country });
          if ('readings' in found) expect(found.readings.length).toBeLessThanOrEqual(3);
          else {
            expect(CODE_PAGES).toContain(found.encoding);
            expect(found.certainty).toBeGreaterThan(0.9);
            new TextDecoder(found.encoding, { fatal: true }).decode(bytes);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
