import metadata from 'libphonenumber-js/metadata.max.json';

interface Plan {
  country: string | undefined;
  general: RegExp;
  types: {
    pattern: RegExp;
    lengths: number[] | undefined;
    isLandline: boolean;
    isCostly: boolean;
    isOfFixedLength: boolean;
  }[];
  leading: RegExp | undefined;
}

/** A region's entry as libphonenumber-js packs it: positions 0, 2, 3, 10 and 11 are calling code, pattern, lengths, leading digits, types. */
type Packed = readonly unknown[];
type PackedType = readonly [pattern: string, lengths?: number[]];
/** Where the types of a region hold its landlines. */
const FIXED_LINE = 0;
/** Where the types of a region hold its premium-rate numbers, and its personal ones, which cost as much (+44 70 …). */
const COSTLY_TYPES = [3, 4];
/** Where they hold the numbers of people's voicemail. */
const VOICEMAIL = 5;
/** Satellite and international networks, where a minute costs several euros whoever is called. */
const COSTLY_CODES = ['870', '878', '881', '882', '883', '979'];
/** Where they hold the numbers of pagers, which cost as much in the United Kingdom and its islands (+44 76 …). */
const PAGER = 7;
const COSTLY_PAGERS = '44';

const whole = (pattern: unknown) => new RegExp(`^(?:${pattern})$`);

function compile(packed: Packed, country: string | undefined): Plan {
  const types = ((packed[11] ?? []) as (PackedType | 0)[]).flatMap((type, at) => (type ? [{ type, at }] : []));
  return {
    country,
    general: whole(packed[2]),
    types: types.map(({ type: [pattern, ofType], at }) => {
      const lengths = ofType ?? (packed[3] as number[] | undefined);
      return {
        pattern: whole(pattern),
        lengths,
        isLandline: at === FIXED_LINE,
        isCostly:
          COSTLY_TYPES.includes(at) ||
          COSTLY_CODES.includes(packed[0] as string) ||
          (at === PAGER && packed[0] === COSTLY_PAGERS),
        isOfFixedLength: at !== VOICEMAIL && lengths !== undefined && lengths.length <= 2,
      };
    }),
    leading: packed[10] ? new RegExp(`^(?:${packed[10]})`) : undefined,
  };
}

function compileAll(): Map<string, Plan[]> {
  const packed = metadata as unknown as {
    country_calling_codes: Record<string, string[]>;
    countries: Record<string, Packed>;
    nonGeographic?: Record<string, Packed>;
  };
  const plans = new Map<string, Plan[]>();
  for (const [code, countries] of Object.entries(packed.country_calling_codes)) {
    const known = countries.filter((country) => packed.countries[country]);
    plans.set(
      code,
      known.map((country) => compile(packed.countries[country]!, country)),
    );
  }
  for (const [code, entry] of Object.entries(packed.nonGeographic ?? {})) plans.set(code, [compile(entry, undefined)]);
  return plans;
}

const plansByCallingCode = compileAll();

type PlanType = Pick<Plan['types'][number], 'isCostly' | 'isOfFixedLength'>;
const untyped: PlanType = { isCostly: false, isOfFixedLength: false };
/** As E.164 has it. Some plans have longer numbers inside their country. */
const MOST_DIGITS = 15;

const isOfType = ({ lengths, pattern }: Plan['types'][number], national: string): boolean =>
  (!lengths || lengths.includes(national.length)) && pattern.test(national);

/** The first type of a plan that a number is of, or nothing where the plan doesn't have it. */
function typeOf(plan: Plan, national: string): PlanType | undefined {
  if (!plan.general.test(national)) return undefined;
  if (plan.types.length === 0) return untyped;
  return plan.types.find((type) => isOfType(type, national));
}

/** What the numbering plans say about a number. */
export interface PlannedNumber {
  /** Absent for numbers of no country, such as +800. */
  country: string | undefined;
  /** Premium rate, or as dear: personal numbers, satellite and international networks. */
  isCostly: boolean;
  /** Whether numbers of its kind have one length, or two at most; false for voicemail. */
  isOfFixedLength: boolean;
}

/** Numbers kept for examples and films: no exchange has them, the simulator's magic numbers are among them. */
const FICTIONAL = /^1[2-9]\d\d55501\d\d$/;

/**
 * Looks an international number up in the numbering plans of libphonenumber's metadata, some fifteen times as fast as the
 * library does, with the same answer; but every North American 555-01XX counts as a number, whatever its area code.
 * @param digits calling code and national number, without `+`
 * @returns nothing for a number that can't exist
 */
export function findPlan(digits: string): PlannedNumber | undefined {
  if (digits.length > MOST_DIGITS) return undefined;
  for (let length = 1; length <= 3; length += 1) {
    const plans = plansByCallingCode.get(digits.slice(0, length));
    if (!plans) continue;
    const national = digits.slice(length);
    for (const plan of plans) {
      const type = typeOf(plan, national);
      if (plans.length > 1 && plan.leading ? plan.leading.test(national) : type) {
        const { country } = plan;
        if (type) return { country, isCostly: type.isCostly, isOfFixedLength: type.isOfFixedLength };
        break;
      }
    }
    break;
  }
  return FICTIONAL.test(digits) ? { country: 'US', isCostly: false, isOfFixedLength: true } : undefined;
}

/** The ISO 3166-1 country of an E.164 number given without its plus; undefined where it belongs to none (+883 …). */
export const countryOfNumber = (digits: number): string | undefined => findPlan(String(digits))?.country;

/** The countries that share the calling code of a number, whether it can exist or not; the main one first. */
export function countriesOfCode(digits: string): string[] {
  const code = [1, 2, 3].map((length) => digits.slice(0, length)).find((each) => plansByCallingCode.has(each));
  return code === undefined ? [] : plansByCallingCode.get(code)!.flatMap(({ country }) => country ?? []);
}

/**
 * Where the holder of a number may be by its plan: the countries that have such a number (mobiles of Australia are those of
 * its islands too, and toll-free numbers of North America every country's there), and whether it is surely a landline.
 * Slower than `findPlan`, and for what that leaves open.
 * @param digits calling code and national number, without `+`
 */
export function holdersOf(digits: string): { countries: string[]; isLandline: boolean } {
  const code = [1, 2, 3].map((length) => digits.slice(0, length)).find((each) => plansByCallingCode.has(each)) ?? '';
  const national = digits.slice(code.length);
  const found = (plansByCallingCode.get(code) ?? []).flatMap((plan) => {
    const types = plan.general.test(national) ? plan.types.filter((type) => isOfType(type, national)) : [];
    return types.length === 0 ? [] : [{ country: plan.country, types }];
  });
  return {
    countries: found.flatMap(({ country }) => country ?? []),
    isLandline: found.length > 0 && found.every(({ types }) => types.every(({ isLandline }) => isLandline)),
  };
}
