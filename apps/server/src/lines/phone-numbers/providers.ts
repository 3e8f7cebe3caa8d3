import { type ErrorCode, ServiceError } from '../../foundation/values/service-error.ts';
import { NumberError, type NumberErrorReason, type NumberMarket } from '../telephony/number-market.ts';
import type { PhoneNumberRow } from './phone-number.ts';

/** Where numbers are bought, by the name of the provider. */
export type Markets = ReadonlyMap<string, NumberMarket>;

/** Where numbers of this provider are bought. Throws `invalid_request`, which names the providers that sell any. */
export function marketNamed(markets: Markets, name: string, path: string): NumberMarket {
  const market = markets.get(name);
  if (market) return market;
  const names = [...markets.keys()].join(', ') || 'none';
  const message = `The provider ${name} is not configured. Configured providers: ${names}.`;
  throw new ServiceError('invalid_request', message, { details: [{ path, message }] });
}

/** Where a number was bought. Throws `provider_error` where its provider is not configured any more. */
export function marketOf(markets: Markets, row: PhoneNumberRow): NumberMarket {
  const market = markets.get(row.provider);
  if (!market) throw new ServiceError('provider_error', `The provider ${row.provider} is not configured any more.`);
  return market;
}

/** What a client is told of a provider that failed; what the provider said goes into the log only. */
export const providerError = (cause: unknown, provider: string): ServiceError =>
  new ServiceError('provider_error', `The provider ${provider} failed, and nothing was changed. Try again later.`, {
    cause,
  });

/** What a client is told of a purchase that came to nothing. */
export function purchaseFailure(cause: unknown, provider: string, phoneNumber: string): ServiceError {
  const reason = cause instanceof NumberError ? cause.reason : 'temporary';
  if (reason === 'temporary') return providerError(cause, provider);
  const [code, message] = refusals[reason](provider, phoneNumber);
  return new ServiceError(code, message, { cause });
}

type Refusal = (provider: string, phoneNumber: string) => [ErrorCode, string];

const refusals: Record<Exclude<NumberErrorReason, 'temporary'>, Refusal> = {
  billing: () => [
    'payment_required',
    'The provider account cannot pay for this number. Check its balance and billing.',
  ],
  unavailable: (provider, phoneNumber) => [
    'number_unavailable',
    `The number ${phoneNumber} is not for sale at ${provider}.`,
  ],
  invalid: (provider, phoneNumber) => [
    'invalid_request',
    `The provider ${provider} does not take ${phoneNumber} for a number.`,
  ],
};
