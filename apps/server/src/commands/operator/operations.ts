import type { Handlers } from '../../foundation/http/handler.ts';
import { shared } from '../../foundation/http/shared.ts';
import { ok } from '../../foundation/values/success.ts';
import { readStatus, type StatusDeps } from './read-status.ts';

/** However many ask, the database is asked once in so many milliseconds, and once at a time. */
const KEPT_MS = 1000;

/** The operation of the tag "Operator". */
export function operatorOperations(deps: StatusDeps) {
  const status = shared(() => readStatus(deps), KEPT_MS);
  return { getOperatorStatus: async () => ok(await status()) } satisfies Partial<Handlers>;
}
