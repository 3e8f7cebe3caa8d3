import type { components } from '@trunkline/client/schema';
import { COUNTRY_NOT_ALLOWED, dialRefusal, type ReadNumber, readNumber } from '../calls/may-dial.ts';
import type { BatchContact } from '../campaigns/insert-batch.ts';
import { readTimeZone } from '../contact-lists/reading/time-zone.ts';
import { newUuid } from '../ids.ts';
import type { CallingArea } from '../phone-numbers/may-call.ts';
import type { ErrorDetail } from '../service-error.ts';

export type Recipient = components['schemas']['BatchRecipient'];
export type RejectedRecipient = components['schemas']['RejectedRecipient'];
type Code = RejectedRecipient['code'];

/** Whom the workspace doesn't call. Numbers are E.164 without the plus. */
export interface RecipientTerms {
  notCalled: ReadonlySet<number>;
  area: CallingArea;
}

const MOST_VALUES = 64;
const LONGEST_NAME = 64;
const LONGEST_VALUE = 4096;

const errors: Record<Exclude<Code, 'invalid_metadata'>, string> = {
  invalid_number: 'This is not a number that can be called. Write it in E.164 form, such as +14155550142.',
  duplicate: 'The number stands in this request before, and is called once.',
  do_not_call: 'This number is on the do-not-call list.',
  country_not_allowed: COUNTRY_NOT_ALLOWED,
};

/** The numbers of some recipients; nothing for what can't be called. */
export const readNumbers = (recipients: readonly Recipient[]): (ReadNumber | undefined)[] =>
  recipients.map(({ phoneNumber }) => readNumber(phoneNumber));

/** The faults of recipients that refuse the whole request. */
export const recipientFaults = (recipients: readonly Recipient[]): ErrorDetail[] =>
  recipients.flatMap(({ timezone }, at) =>
    timezone === undefined || readTimeZone(timezone) !== undefined
      ? []
      : [
          {
            path: `/body/recipients/${at}/timezone`,
            message: 'There is no such time zone. Give an IANA name such as Europe/Berlin.',
          },
        ],
  );

/**
 * Judges each recipient for itself, `numbers` being theirs. Of those with one number the first that can be called is called. The contacts come in
 * the order of their recipients, and so do their IDs.
 */
export function judgeRecipients(
  recipients: readonly Recipient[],
  numbers: readonly (ReadNumber | undefined)[],
  { notCalled, area }: RecipientTerms,
): { contacts: BatchContact[]; rejected: RejectedRecipient[] } {
  const contacts = new Map<number, BatchContact>();
  const rejected: RejectedRecipient[] = [];
  for (const [index, recipient] of recipients.entries()) {
    const { phoneNumber, externalId, name, metadata = {} } = recipient;
    const reject = (code: Code, error: string) =>
      rejected.push({ index, phoneNumber, ...(externalId !== undefined && { externalId }), code, error });
    const number = numbers[index];
    const refusal = number ? dialRefusal(number.toNumber, notCalled.has(number.toNumber), area) : 'invalid_number';
    const metadataFault = faultOf(metadata);
    if (number === undefined || refusal) reject(refusal!, errors[refusal!]);
    else if (metadataFault) reject('invalid_metadata', metadataFault);
    else if (contacts.has(number.toNumber)) reject('duplicate', errors.duplicate);
    else {
      contacts.set(number.toNumber, {
        id: newUuid(),
        toNumber: number.toNumber,
        name: name || null,
        externalId: externalId ?? null,
        timezone: (recipient.timezone && readTimeZone(recipient.timezone)) ?? null,
        metadata: Object.keys(metadata).length > 0 ? (metadata as Record<string, string>) : null,
      });
    }
  }
  return { contacts: [...contacts.values()], rejected };
}

function faultOf(metadata: Record<string, unknown>): string | undefined {
  const entries = Object.entries(metadata);
  if (entries.length > MOST_VALUES) return `There are ${entries.length} values in metadata; ${MOST_VALUES} can be.`;
  for (const [name, value] of entries) {
    if (name === '' || isLonger(name, LONGEST_NAME)) return `A name in metadata has 1 to ${LONGEST_NAME} characters.`;
    if (typeof value !== 'string') return `The value of ${name} in metadata is not a string.`;
    if (isLonger(value, LONGEST_VALUE)) return `The value of ${name} in metadata has over ${LONGEST_VALUE} characters.`;
  }
  return undefined;
}

/** Characters are counted as JSON Schema does: one of two halves is one. */
const isLonger = (text: string, most: number): boolean => text.length > most && [...text].length > most;
