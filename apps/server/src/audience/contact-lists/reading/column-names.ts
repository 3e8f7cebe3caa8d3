import { plainTitle } from './phone-names.ts';

const titles = (text: string): Set<string> =>
  new Set(
    text
      .trim()
      .split(/\s*[\n,]\s*/)
      .map(plainTitle),
  );

/** What people head the column of whole names with. */
const FULL = titles(`
  name, full name, contact name, display name, customer name, lead name, person - name,
  vollständiger name, vor- und nachname, vor und nachname, nom complet, nom et prénom, prénom et nom, nombre completo,
  nombre y apellido, nombre y apellidos, nome completo, nome e cognome, cognome e nome, nome e sobrenome, volledige naam,
  imię i nazwisko, nazwisko i imię, jméno a příjmení, teljes név, nume complet, ad soyad, adı soyadı, isim,
  fullt namn, fullt navn, ФИО, полное имя, имя и фамилия, повне ім'я, ПІБ,
  氏名, お名前, 名前, 姓名, 名字, 이름, 성명, שם מלא, שם, الاسم الكامل, الاسم
`);
const FIRST = titles(`
  first name, given name, forename, vorname, prénom, nombre, nombres, primer nombre, nome, primeiro nome, voornaam, imię,
  jméno, keresztnév, prenume, ad, adı, förnamn, fornavn, etunimi, имя, ім'я, 名, שם פרטי, الاسم الأول
`);
/** The second of two columns, or the only one. */
const LAST = titles(`
  last name, family name, surname, nachname, familienname, nom, nom de famille, apellido, apellidos, sobrenome, apelido,
  cognome, achternaam, nazwisko, příjmení, vezetéknév, név, nume, nume de familie, soyad, soyadı, efternamn, etternavn,
  efternavn, sukunimi, фамилия, прізвище, 姓, 성, שם משפחה, اسم العائلة
`);
/** Whole names in some languages, and less certain than all above. */
const SHORT = titles('naam, namn, navn, nimi, név, nume, nom, nome, nombre, jméno, имя');

const TIME_ZONES = titles(`
  timezone, tz, iana timezone, iana time zone, local timezone, zeitzone, fuseau horaire, zona horaria, huso horario,
  fuso horário, fuso orario, tijdzone, strefa czasowa, časové pásmo, időzóna, fus orar, saat dilimi, tidszon, tidssone,
  tidszone, aikavyöhyke, часовой пояс, часовий пояс, タイムゾーン, 时区, 時區, 시간대, אזור זמן, المنطقة الزمنية
`);

/**
 * The columns of which a person's name is made, in the order of its parts; `name` goes before all.
 * @param isFree whether a column is none of another kind
 */
export function findNameColumns(all: readonly string[], isFree: (at: number) => boolean): number[] {
  const keys = all.map((title, at) => (isFree(at) ? plainTitle(title) : ''));
  const find = (names: Set<string>, but?: number): number[] => {
    const at = keys.findIndex((key, index) => key !== '' && index !== but && names.has(key));
    return at === -1 ? [] : [at];
  };
  const whole = keys.indexOf('name') === -1 ? find(FULL) : [keys.indexOf('name')];
  if (whole.length > 0) return whole;
  const first = find(FIRST);
  const last = find(LAST, first[0]);
  if (first.length > 0 && last.length > 0) return [...first, ...last];
  const short = find(SHORT);
  return short.length > 0 ? short : [...first, ...last];
}

/** The column that tells where a person is. */
export function findTimeZoneColumns(all: readonly string[], isFree: (at: number) => boolean): number[] {
  const keys = all.map((title, at) => (isFree(at) ? plainTitle(title) : ''));
  const named = keys.indexOf('timezone');
  const found = named === -1 ? keys.findIndex((key) => TIME_ZONES.has(key)) : named;
  return found === -1 ? [] : [found];
}
