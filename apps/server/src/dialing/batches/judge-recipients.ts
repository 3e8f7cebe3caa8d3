import { forbidsCalls, isDoNotCallName } from '../../audience/contact-lists/reading/callee-word.ts';
import { readPhoneNumber } from '../../audience/contact-lists/reading/phone-number.ts';
import { readTimeZone, timeZoneFault } from '../../audience/contact-lists/reading/time-zone.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { isObject, isText, shownNumber } from '../../foundation/values/judged-items.ts';
import type { CallingArea } from '../../lines/phone-numbers/may-call.ts';
import { COUNTRY_NOT_ALLOWED, dialRefusal, OPERATOR_LIMIT, readNumber } from '../calls/may-dial.ts';
import type { BatchContact } from '../campaigns/insert-batch.ts';
import { LONGEST_TEXT, metadataFault, recipientFault } from './recipient-faults.ts';

export type Recipient = components['schemas']['BatchRecipient'];
export type RejectedRecipient = components['schemas']['RejectedRecipient'];
/** One as it is kept: with the number that was read, where one was, so that it can be found in whatever form it was sent. */
export interface KeptRejection extends RejectedRecipient {
  /** E.164 without the plus. */
  number?: number;
}
type Code = RejectedRecipient['code'];

/** Whom the workspace doesn't call. Numbers are E.164 without the plus. */
export interface RecipientTerms {
  notCalled: ReadonlySet<number>;
  area: CallingArea;
}

/** A recipient as it was sent, with its number as far as it has one. */
export interface ReadRecipient {
  sent: unknown;
  /** E.164 without the plus, or what is wrong: with the recipient, or with its number. */
  number: number | { code: Code; error: string };
}

const errors = {
  invalid_number:
    'This is not a number that can be called. Write it in E.164 form, such as +14155550142, or send a defaultCountry.',
  calls_itself: 'This is the number that calls: it can not call itself.',
  duplicate: 'The number stands in this request before, and is called once.',
  do_not_call: 'This number is on the do-not-call list.',
  own_word: 'The metadata of this recipient, or of another one with this number, say that nobody is to call.',
  operator_limit: OPERATOR_LIMIT,
  country_not_allowed: COUNTRY_NOT_ALLOWED,
};

/** Reads recipients, of whom nothing is known yet. @param defaultCountry with it, numbers are read as in a contact file */
export const readRecipients = (
  recipients: readonly unknown[],
  defaultCountry: string | undefined,
): readonly ReadRecipient[] =>
  recipients.map((sent) => {
    const fault = recipientFault(sent);
    if (fault !== undefined) return { sent, number: { code: 'invalid_recipient', error: fault } };
    return { sent, number: numberOf((sent as Recipient).phoneNumber, defaultCountry) };
  });

function numberOf(phoneNumber: string, defaultCountry: string | undefined): ReadRecipient['number'] {
  const invalid = (error: string) => ({ code: 'invalid_number' as const, error });
  if (defaultCountry === undefined) return readNumber(phoneNumber)?.toNumber ?? invalid(errors.invalid_number);
  const read = readPhoneNumber(phoneNumber, defaultCountry);
  return 'code' in read ? invalid(read.reason) : read.digits;
}

/** One as clients see it. */
export const shownRejection = ({ number: _, ...shown }: KeptRejection): RejectedRecipient => shown;

/** The numbers of those who have one. */
export const numbersOf = (recipients: readonly ReadRecipient[]): number[] =>
  recipients.flatMap(({ number }) => (typeof number === 'number' ? number : []));

/**
 * Judges each recipient for itself. Of those with one number the first that can be called is called. The contacts come in
 * the order of their recipients, and so do their IDs.
 */
export function judgeRecipients(
  recipients: readonly ReadRecipient[],
  { notCalled, area }: RecipientTerms,
): { contacts: BatchContact[]; rejected: KeptRejection[] } {
  const contacts = new Map<number, BatchContact>();
  const rejected: KeptRejection[] = [];
  const ownWords = forbiddenByMetadata(recipients);
  for (const [index, { sent, number }] of recipients.entries()) {
    const reject = (code: Code, error: string) => {
      const externalId = isObject(sent) ? sent['externalId'] : undefined;
      const known = isText(externalId, LONGEST_TEXT) ? { externalId } : {};
      const read = typeof number === 'number' ? { number } : {};
      rejected.push({ index, phoneNumber: shownNumber(sent), ...known, ...read, code, error });
    };
    if (typeof number !== 'number') {
      reject(number.code, number.error);
      continue;
    }
    const { externalId, name, timezone, metadata = {} } = sent as Recipient;
    const refusal = dialRefusal(number, notCalled.has(number) || ownWords.has(number), area);
    const zone = timezone === undefined ? null : readTimeZone(timezone);
    const fault = metadataFault(metadata);
    if (refusal === 'do_not_call') reject(refusal, errors[notCalled.has(number) ? refusal : 'own_word']);
    else if (refusal)
      reject(refusal, errors[refusal === 'invalid_number' && number === area.caller ? 'calls_itself' : refusal]);
    else if (zone === undefined) reject('invalid_timezone', timeZoneFault(timezone!));
    else if (fault) reject('invalid_metadata', fault);
    else if (contacts.has(number)) reject('duplicate', errors.duplicate);
    else {
      contacts.set(number, {
        id: newUuid(),
        toNumber: number,
        name: name || null,
        externalId: externalId ?? null,
        timezone: zone,
        metadata: Object.keys(metadata).length > 0 ? (metadata as Record<string, string>) : null,
      });
    }
  }
  return { contacts: [...contacts.values()], rejected };
}

/** The numbers of recipients whose metadata say, as a column of a contact file would, that nobody is to call. */
function forbiddenByMetadata(recipients: readonly ReadRecipient[]): Set<number> {
  const known = new Map<string, boolean>();
  const isWord = (name: string) => {
    const is = known.get(name) ?? isDoNotCallName(name);
    known.set(name, is);
    return is;
  };
  const found = new Set<number>();
  for (const { sent, number } of recipients) {
    if (typeof number !== 'number') continue;
    const { metadata = {} } = sent as Recipient;
    if (
      isObject(metadata) &&
      Object.keys(metadata).some((name) => isWord(name) && forbidsCalls(String(metadata[name])))
    )
      found.add(number);
  }
  return found;
}
