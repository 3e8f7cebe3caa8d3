/** Letters and digits alone, without accents and case, in words. */
const wordsOf = (title: string): string[] =>
  title
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/** A title for comparison: accents, case, spaces and punctuation don't count. */
export const plainTitle = (title: string): string => wordsOf(title).join('');

const plain = (words: string): Set<string> => new Set(words.split(/\s+/).flatMap(wordsOf));

/** The best first. `number` may be an account's. */
const FIRST = ['phonenumber', 'phone', 'mobile', 'telephone'];
const LAST = 'number';

/** Words for a telephone, a mobile phone or its number, as people head their columns. */
const WORDS = plain(`
  phonenumber phone phones mobile telephone tel cell cellphone cellular mobilephone mobilenumber telno phoneno msisdn gsm whatsapp
  telefon telefonnummer telefonnr telnr fon rufnummer mobil mobiltelefon mobilnummer mobilnr mobilfunk handy handynummer
  téléphone portable cellulaire teléfono móvil celular telefone telemóvel fone telefono cellulare fono
  telefoon telefoonnummer mobiel gsmnummer puhelin puhelinnumero matkapuhelin telefonu telefonní telefonszám mobilszám
  komórka komórkowy komórkowa telefonas telefona telefoni telefonul cep ceptelefonu telepon ponsel sđt
  телефон телефона телефону телефоны мобильный мобільний мобилен сотовый моб тел τηλέφωνο τηλ κινητό
  هاتف الهاتف جوال الجوال موبايل تليفون طلفون טלפון נייד פלאפון फ़ोन मोबाइल
`);
/** The same in scripts that set no spaces, and in two words. */
const PARTS = [
  '电话',
  '電話',
  '手机',
  '手機',
  '携帯',
  '전화',
  '휴대폰',
  '핸드폰',
  'โทรศัพท์',
  'เบอร์โทร',
  'มือถือ',
  'điện thoại',
  'dien thoai',
].map(plainTitle);
/** What makes such a column hold something else. */
const OTHERS = plain(
  'fax label labels etikett libelle etiqueta etichetta etykieta type typ country code ext extension provider carrier verified valid consent status date id note email',
);

/** What tells a phone of a person from the others of the same. */
const WHICH = plain(`
  number no nr num main primary secondary second first other alternate alternative home work private personal business office
  privat geschäftlich dienstlich zuhause hauptnummer weitere andere domicile bureau travail fixe personnel
  particular trabajo casa oficina personal principal otro trabalho residencial comercial outro lavoro ufficio casa altro
  thuis werk domowy służbowy prywatny inny domácí práce ev iş домашний рабочий личный 1 2 3 4 5 6 7 8 9
`);
const MOST_PHONES = 8;

function rank(title: string): number {
  const words = wordsOf(title);
  const key = words.join('');
  const first = FIRST.indexOf(key);
  if (first !== -1) return first;
  if (key === LAST) return FIRST.length + 2;
  if (words.some((word) => OTHERS.has(word))) return Number.POSITIVE_INFINITY;
  if (WORDS.has(key)) return FIRST.length;
  const isPhone = words.some((word) => WORDS.has(word)) || PARTS.some((part) => key.includes(part));
  return isPhone ? FIRST.length + 1 : Number.POSITIVE_INFINITY;
}

/**
 * The positions of the columns that hold a person's phone numbers, the likeliest first; none where none is called so. Behind
 * the first stand those alone that are surely the person's own: the phone of an assistant is not.
 * @param isOther whether a column is known to hold something else
 */
export function findPhoneColumns(titles: readonly string[], isOther: (title: string) => boolean): number[] {
  const ranks = titles.map((title) => (isOther(title) ? Number.POSITIVE_INFINITY : rank(title)));
  const best = Math.min(...ranks);
  if (!Number.isFinite(best)) return [];
  const first = ranks.indexOf(best);
  const others = titles.flatMap((title, at) => (at !== first && !isOther(title) && isOwnPhone(title) ? at : []));
  return [first, ...others.sort((one, other) => ranks[one]! - ranks[other]!)].slice(0, MOST_PHONES);
}

/** Whether each word of a title is one for a phone, or says which of a person's phones it is. */
const isOwnPhone = (title: string): boolean => {
  const words = wordsOf(title);
  return words.some((word) => WORDS.has(word)) && words.every((word) => WORDS.has(word) || WHICH.has(word));
};
