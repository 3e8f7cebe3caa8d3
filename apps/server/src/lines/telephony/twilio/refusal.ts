import { NumberError, type NumberErrorReason } from '../number-market.ts';

/** What Twilio's error codes mean for a purchase (twilio.com/docs/api/errors). The rest goes by the status. */
const reasons: Record<number, NumberErrorReason> = {
  10001: 'billing', // account is not active
  20003: 'credentials',
  20005: 'billing', // account is not active
  21404: 'billing', // trial accounts have one number
  21421: 'invalid',
  21422: 'unavailable',
};

/** What it asks for, as clients are told. */
const requirements: Record<number, string> = {
  21613: 'an address',
  21615: 'an address in the country of the number (local address)',
  21628: 'an address outside of the country of the number (foreign address)',
  21631: 'an address',
  21649: 'approved regulatory documents (a bundle)',
  21650: 'an address that its regulatory documents name',
  21651: 'an address that its regulatory documents name',
};

/**
 * The error of an answer that is none of success, of a status below 500 and other than 429: nothing was done.
 * @param body what Twilio said, parsed
 */
export function refusal(status: number, body: unknown): NumberError {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  const said = `Twilio said ${status}${code === undefined ? '' : `, ${code}`}: ${String(message ?? '').slice(0, 500)}`;
  const missing = requirements[Number(code)];
  if (missing) return new NumberError('requirements', said, { missing });
  return new NumberError(reasons[Number(code)] ?? byStatus(status), said);
}

function byStatus(status: number): NumberErrorReason {
  if (status === 401) return 'credentials';
  if (status === 402) return 'billing';
  if (status === 404) return 'unavailable';
  return status === 400 ? 'invalid' : 'temporary';
}
