import { isObject, isText, itemFault } from '../../foundation/values/judged-items.ts';

const FIELDS = ['phoneNumber', 'name', 'externalId', 'timezone', 'metadata'];
/** Of a name and an external ID, in characters. */
export const LONGEST_TEXT = 255;
const MOST_VALUES = 64;
const LONGEST_NAME = 64;
const LONGEST_VALUE = 4096;

/** What of a recipient is not as the contract says, its number's form, time zone and metadata's values aside. */
export function recipientFault(recipient: unknown): string | undefined {
  const fault = itemFault(recipient, FIELDS);
  if (fault) return fault;
  for (const name of ['name', 'externalId', 'timezone']) {
    const value = (recipient as Record<string, unknown>)[name];
    if (value !== undefined && typeof value !== 'string') return `${name} is not text.`;
    if (value !== undefined && !isText(value, LONGEST_TEXT)) return `${name} has over ${LONGEST_TEXT} characters.`;
  }
  return undefined;
}

/** What is wrong with a recipient's metadata. */
export function metadataFault(metadata: unknown): string | undefined {
  if (!isObject(metadata)) return 'metadata are an object of strings by their names.';
  const entries = Object.entries(metadata);
  if (entries.length > MOST_VALUES) return `There are ${entries.length} values in metadata; ${MOST_VALUES} can be.`;
  for (const [name, value] of entries) {
    if (name === '' || !isText(name, LONGEST_NAME)) return `A name in metadata has 1 to ${LONGEST_NAME} characters.`;
    if (typeof value !== 'string') return `The value of ${name} in metadata is not a string.`;
    if (!isText(value, LONGEST_VALUE)) return `The value of ${name} in metadata has over ${LONGEST_VALUE} characters.`;
  }
  return undefined;
}
