const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
/** What has a code and is no country. */
const NO_COUNTRIES = ['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ'];
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Codes that today's names of countries have: `UK` and `BU` are others by now. */
const isOfToday = (code: string) => new Intl.Locale(`und-${code}`).region === code;

/** All countries: their codes and names, by name. */
export function allCountries(): { code: string; name: string }[] {
  return LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .filter((code) => !NO_COUNTRIES.includes(code) && isOfToday(code))
    .flatMap((code) => {
      const name = names.of(code);
      return name ? [{ code, name }] : [];
    })
    .sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

export const countryName = (code: string) => names.of(code) ?? code;

/** The country in which the language of a browser is spoken: en-US in the US, de in Germany. */
export const countryOf = (language: string) => new Intl.Locale(language).maximize().region ?? 'US';
