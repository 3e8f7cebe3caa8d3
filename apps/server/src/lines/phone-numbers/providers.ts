import { type ErrorCode, ServiceError } from '../../foundation/values/service-error.ts';
import { NumberError, type NumberErrorReason, type TelephonyGateway } from '../telephony/gateway.ts';
import type { PhoneNumberRow } from './phone-number.ts';

/** The configured provider of this name that sells numbers. Throws `invalid_request`, which names those that there are. */
export function sellerNamed(gateways: readonly TelephonyGateway[], name: string, path: string): TelephonyGateway {
  const sellers = gateways.filter((gateway) => gateway.capabilities.numbers);
  const seller = sellers.find((gateway) => gateway.name === name);
  if (seller) return seller;
  const names = sellers.map((gateway) => gateway.name).join(', ') || 'none';
  const message = `The provider ${name} is not configured. Configured providers: ${names}.`;
  throw new ServiceError('invalid_request', message, { details: [{ path, message }] });
}

/** The provider that a number was bought from. Throws `provider_error` where it is not configured any more. */
export function providerOf(gateways: readonly TelephonyGateway[], row: PhoneNumberRow): TelephonyGateway {
  const gateway = gateways.find(({ name }) => name === row.provider);
  if (!gateway) throw new ServiceError('provider_error', `The provider ${row.provider} is not configured any more.`);
  return gateway;
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
