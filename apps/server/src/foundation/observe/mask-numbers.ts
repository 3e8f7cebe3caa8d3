const SHOWN_DIGITS = 2;

/** E.164 with its plus, however it is grouped, or with the plus as URLs write it. */
const WITH_PLUS = /(?:\+|%2B)\(?\d(?:[ ().-]{0,2}\d){6,14}/gi;
/** In the user part of a SIP or tel URI, whatever a trunk wants before the digits. */
const IN_URI = /(?<=\b(?:sips?|tel):[^\s@<>"]{0,64})\d{7,18}/gi;
/** The same where it is grouped, which the digits of a host are not to be taken for. */
const GROUPED_IN_URI = /(?<=\b(?:sips?:|tel:)[^\s@<>";]{0,64})\d(?:[().-]{0,2}\d){6,17}(?=[^\s@<>"]{0,64}@)/gi;
/** By itself. Not a part of an ID, of a version, or of a decimal number. */
const ALONE = /(?<=^|[^\w.-]|%[0-9A-F]{2})\d{7,18}(?![\w-]|\.\d)/gi;

/** A text with all phone numbers masked but for their last two digits. Other long numbers may be masked too. */
export const maskNumbers = (text: string): string =>
  text
    .replace(WITH_PLUS, (found) => `+${masked(found)}`)
    .replace(IN_URI, masked)
    .replace(GROUPED_IN_URI, masked)
    .replace(ALONE, masked);

const masked = (number: string): string => `***${number.slice(-SHOWN_DIGITS)}`;

/** The same for a line of the log, an object in JSON. Its time stays. */
export const maskLine = (line: string): string =>
  `${JSON.stringify(
    JSON.parse(line, (key, value) => {
      if (typeof value === 'string') return maskNumbers(value);
      return Number.isSafeInteger(value) && key !== 'time' ? shownAsNumber(value) : value;
    }),
  )}\n`;

/** A whole number as long as a phone number becomes a text. */
function shownAsNumber(value: number): number | string {
  const text = maskNumbers(String(value));
  return text === String(value) ? value : text;
}
