import type { ErrorDetail } from '../../foundation/values/service-error.ts';

/** The fault of an import that names no trunk, or says it twice. */
export function trunkChoiceFaults(body: { trunkId?: string | null; sipConfig?: unknown }): ErrorDetail[] {
  if (Number(typeof body.trunkId === 'string') + Number(body.sipConfig !== undefined) === 1) return [];
  return [{ path: '/body/trunkId', message: 'must be given, or sipConfig in its place' }];
}
