import type { RunError } from '../../../foundation/database/schema.ts';

/** What a run's context may hold (api.md, "Limits of a request"). */
export const MAX_CONTEXT_BYTES = 262_144;
const MAX_LEVELS = 32;
const MAX_KEYS = 1000;

/** Why a context can't be kept: too large, too deep, or with text that PostgreSQL refuses. */
export function contextFault(context: Readonly<Record<string, unknown>>): RunError | undefined {
  if (Object.keys(context).length > MAX_KEYS) return tooLarge(`holds more than ${MAX_KEYS} keys`);
  if (Buffer.byteLength(JSON.stringify(context)) > MAX_CONTEXT_BYTES) {
    return tooLarge(`is larger than ${MAX_CONTEXT_BYTES / 1024} KiB`);
  }
  const fault = faultIn(context, 1);
  return fault && { code: fault.code, message: `The context ${fault.message}.` };
}

const tooLarge = (message: string): RunError => ({ code: 'context_too_large', message: `The context ${message}.` });

function faultIn(value: unknown, level: number): RunError | undefined {
  if (typeof value === 'string') return isKeepable(value) ? undefined : unkeepable;
  if (typeof value !== 'object' || value === null) return undefined;
  if (level > MAX_LEVELS) return { code: 'context_too_deep', message: `nests more than ${MAX_LEVELS} levels deep` };
  for (const [key, part] of Object.entries(value)) {
    const fault = (isKeepable(key) ? undefined : unkeepable) ?? faultIn(part, level + 1);
    if (fault) return fault;
  }
  return undefined;
}

const UNKEEPABLE = /\0|\p{Surrogate}/u;
const isKeepable = (text: string): boolean => !UNKEEPABLE.test(text);
const unkeepable: RunError = { code: 'context_not_text', message: 'holds NUL or half a surrogate pair' };
