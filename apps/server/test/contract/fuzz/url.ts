/** A value as it stands in a URL. Placeholders stay readable; surrogates that stand alone can't be written. */
export const inUrl = (value: unknown): string =>
  encodeURIComponent(plain(value).toWellFormed()).replaceAll(/%3C([a-z]+)%3A(\d+)%3E/g, '<$1:$2>');

/** A value as text: JSON of what is none. */
export const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
