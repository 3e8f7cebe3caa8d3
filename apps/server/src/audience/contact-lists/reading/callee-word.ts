import { plainTitle } from './phone-names.ts';

/** Whether a person has agreed to be called, and what is known of that, as it was written. */
export interface Consent {
  given: boolean;
  source?: string;
  time?: string;
  purpose?: string;
}

/** What a row says of its person's own word. */
export interface CalleeWord {
  /** The person is not to be called. */
  doNotCall?: true;
  consent?: Consent;
}

const words = (text: string) => new Set(text.trim().split(/\s+/));

/** Names of columns that say who is not to be called, as `plainTitle` has them (contact-files.md, "The person's word"). */
const DO_NOT_CALL_NAMES = words(`
  donotcall dnc dontcall nocall nocalls donotphone donotcontact hsdonotcall isdonotcall donotcallflag dncflag
  donotcallc donotcallyn isdnc
  optout optedout hasoptedout isoptedout calloptout phoneoptout optedoutat optoutofcalls optedoutofcall optedoutofcalls
  hasoptedoutofcall hasoptedoutofcalls hasoptedoutofphone
  unsubscribe unsubscribed isunsubscribed unsubscribedat unsubscribedfromall unsubscribedfromcalls
`);

/** The columns of consent, as `plainTitle` has them, and what they hold. */
const CONSENT_NAMES = {
  consent: 'given',
  consentsource: 'source',
  consenttime: 'time',
  consentpurpose: 'purpose',
} as const satisfies Record<string, keyof Consent>;

const NO = words('no n false f 0 nein falsch non faux não nao falso nej falskt nee onwaar nie fałsz нет ложь');
const YES = words(
  'yes y true t 1 ja wahr oui vrai sí si verdadero sim verdadeiro sì vero sant waar tak prawda да истина',
);

const folded = (cell: string) => cell.trim().normalize('NFC').toLowerCase();

/** Whether a column of this name says who is not to be called. */
export const isDoNotCallName = (title: string): boolean => DO_NOT_CALL_NAMES.has(plainTitle(title));

/** What of a consent a column of this name holds, if any. */
export const consentPart = (title: string): keyof Consent | undefined => {
  const name = plainTitle(title);
  return Object.hasOwn(CONSENT_NAMES, name) ? CONSENT_NAMES[name as keyof typeof CONSENT_NAMES] : undefined;
};

/** Whether a cell says that the person is not to be called: whatever is no clear no does. A blank one says nothing. */
export const forbidsCalls = (cell: string): boolean => cell.trim() !== '' && !NO.has(folded(cell));

/** Whether a cell says that the person has agreed: what is no clear yes is a no. A blank one says nothing. */
export const givesConsent = (cell: string): boolean | undefined =>
  cell.trim() === '' ? undefined : YES.has(folded(cell));

/** The consent that some cells come to, by what they hold: one no is a no. Without a yes or a no there is none. */
export function readConsent(cells: readonly (readonly [part: keyof Consent, cell: string])[]): Consent | undefined {
  const said = cells.flatMap(([part, cell]) => (part === 'given' ? (givesConsent(cell) ?? []) : []));
  if (said.length === 0) return undefined;
  const consent: Consent = { given: said.every(Boolean) };
  for (const [part, cell] of cells) if (part !== 'given' && cell.trim() !== '') consent[part] ??= cell.trim();
  return consent;
}

/** Takes out of variables, by their names, what says who is not to be called and who has agreed. */
export function takeWord<Value>(
  variables: Readonly<Record<string, Value>>,
): CalleeWord & { rest: Record<string, Value> } {
  const rest: Record<string, Value> = {};
  const cells: [keyof Consent, string][] = [];
  const hasConsent = Object.keys(variables).some((name) => consentPart(name) === 'given');
  let doNotCall = false;
  for (const [name, value] of Object.entries(variables)) {
    const part = hasConsent ? consentPart(name) : undefined;
    if (typeof value !== 'string') rest[name] = value;
    else if (part) cells.push([part, value]);
    else if (isDoNotCallName(name)) doNotCall ||= forbidsCalls(value);
    else rest[name] = value;
  }
  const consent = readConsent(cells);
  return { ...(doNotCall && { doNotCall }), ...(consent && { consent }), rest };
}
