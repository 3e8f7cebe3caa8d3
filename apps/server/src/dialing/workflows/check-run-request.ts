import { ServiceError } from '../../foundation/values/service-error.ts';
import { contextFault } from './runs/context-limits.ts';

const refuse = (path: string, message: string, text: string) =>
  new ServiceError('invalid_request', text, { details: [{ path, message }] });

/** What the contract can't say of the headers of a start; throws `invalid_request`. The validator has turned `-0` into a number that is 0. */
export function checkHeaders(concurrencyKey: string | undefined, cooldownMinutes: number | undefined): void {
  const path = '/headers/Cooldown-Minutes';
  if (Object.is(cooldownMinutes, -0)) throw refuse(path, 'must be digits', 'Cooldown-Minutes must be digits.');
  if (cooldownMinutes === undefined || concurrencyKey !== undefined) return;
  throw refuse(path, 'needs the header Concurrency-Key', 'Cooldown-Minutes needs a Concurrency-Key.');
}

/** Throws `invalid_request` for a context that is too large. */
export function checkContext(context: Record<string, unknown>): void {
  const fault = contextFault(context);
  if (fault) throw refuse('/body/context', fault.message.replace('The context ', ''), fault.message);
}
