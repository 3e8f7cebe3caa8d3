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
  'fax type typ country code ext extension provider carrier verified valid consent status date id note email',
);

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
 * The position of the column that most likely holds the phone numbers; nothing where none is called so.
 * @param isOther whether a column is known to hold something else
 */
export function findPhoneColumn(titles: readonly string[], isOther: (title: string) => boolean): number | undefined {
  const ranks = titles.map((title) => (isOther(title) ? Number.POSITIVE_INFINITY : rank(title)));
  const best = Math.min(...ranks);
  return Number.isFinite(best) ? ranks.indexOf(best) : undefined;
}
