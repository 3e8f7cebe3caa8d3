import { faultAt } from './request-fault.ts';

/** What can't be read off the text of a number that is short and plain. */
const MAY_BE_CHANGED = /\d[\d.]{14}|\d[eE]/;

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
type ParseWithSource = (text: string, reviver: Reviver) => unknown;

/**
 * Parses JSON whose numbers are kept as they are. Throws `invalid_request` for one that has more digits than a double
 * carries, or is beyond its range: it would come back as another one. Throws a SyntaxError for what is no JSON.
 */
export function parseExactly(text: string): unknown {
  if (!MAY_BE_CHANGED.test(text)) return JSON.parse(text);
  return (JSON.parse as ParseWithSource)(text, (_, value, { source }) => {
    if (typeof value === 'number' && source !== undefined) checkExact(source, value);
    return value;
  });
}

/** Throws `invalid_request` for a number whose text says more than the double that it became. */
export function checkExact(source: string, value: number): void {
  if (!MAY_BE_CHANGED.test(source) || isExact(source, value)) return;
  throw faultAt(
    '/body',
    `must hold no number that JSON can't carry exactly, such as ${source.slice(0, 64)}: send it as text`,
  );
}

const isExact = (source: string, value: number): boolean => digitsOf(source) === digitsOf(String(value));

/** The digits of a number without zeros at both ends, and the power of ten of the last one. */
function digitsOf(text: string): string {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!found) return text;
  const [, sign, whole, fraction = '', power = '0'] = found;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(power) - fraction.length + digits.length - kept.length}`;
}
