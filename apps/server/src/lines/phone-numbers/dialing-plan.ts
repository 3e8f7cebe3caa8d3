import metadata from 'libphonenumber-js/metadata.max.json';

/** How people dial inside a country, from libphonenumber's metadata. */
export interface DialingPlan {
  callingCode: string;
  /** What comes before an international number: `00`, `011`, `0011` … */
  internationalPrefix: RegExp | undefined;
  /** Whether people write something before a national number, such as 0. */
  hasTrunkPrefix: boolean;
  /** That, and the carrier codes that may stand with it. */
  trunkPrefix: RegExp | undefined;
  /** What becomes of a number with its trunk prefix, where that is not only taken off. */
  trunkTransform: string | undefined;
  /** Any national number. */
  general: RegExp;
}

/** A region's entry as libphonenumber-js packs it, by position. */
type Packed = readonly [code: string, idd: string | 0, general: string, ...rest: unknown[]];
const NATIONAL_PREFIX = 5;
const PREFIX_FOR_PARSING = 7;
const TRANSFORM = 8;

const plans = new Map<string, DialingPlan | undefined>();
const atStart = (pattern: unknown) => (pattern ? new RegExp(`^(?:${pattern})`) : undefined);

function compile(country: string): DialingPlan | undefined {
  const packed = (metadata as unknown as { countries: Record<string, Packed> }).countries[country];
  return (
    packed && {
      callingCode: packed[0],
      internationalPrefix: atStart(packed[1]),
      hasTrunkPrefix: Boolean(packed[NATIONAL_PREFIX]),
      trunkPrefix: atStart(packed[PREFIX_FOR_PARSING] || packed[NATIONAL_PREFIX]),
      trunkTransform: (packed[TRANSFORM] as string | 0 | undefined) || undefined,
      general: new RegExp(`^(?:${packed[2]})$`),
    }
  );
}

/** The dialing plan of a country (ISO 3166-1 alpha-2); nothing where it has no numbering of its own. */
export function dialingPlan(country: string): DialingPlan | undefined {
  if (!plans.has(country)) plans.set(country, compile(country));
  return plans.get(country);
}

/** The national number in digits that are dialled inside the country: without its trunk prefix, as libphonenumber does. */
export function withoutTrunkPrefix({ trunkPrefix, trunkTransform, general }: DialingPlan, digits: string): string {
  const match = trunkPrefix?.exec(digits);
  if (!match) return digits;
  const isTransformed = trunkTransform !== undefined && match.at(-1) !== undefined;
  const rest = isTransformed ? digits.replace(trunkPrefix!, trunkTransform) : digits.slice(match[0].length);
  return general.test(digits) && !general.test(rest) ? digits : rest;
}
