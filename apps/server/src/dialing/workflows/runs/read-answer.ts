import type { OutboundAnswer } from '../../../foundation/outbound-http/guarded-request.ts';

/** An HTTP answer as the context keeps it. */
export interface HttpAnswer {
  status: number;
  /** By names in lower case. */
  headers: Record<string, string>;
  /** A JSON value, or text; absent where there was no body. */
  body?: unknown;
}

/** As deep as a request's own JSON may be (api.md, "Limits of a request"). */
const MAX_DEPTH = 30;
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** What the context keeps of an answer. JSON that can't be read, or nests too deeply, is kept as text. */
export function readAnswer({ status, headers, body }: OutboundAnswer): HttpAnswer {
  const kept = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, storable(value)]));
  const text = storable(body.toString('utf8'));
  if (text === '') return { status, headers: kept };
  const isJson = /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(headers['content-type'] ?? '');
  return { status, headers: kept, body: isJson ? parsed(text) : text };
}

function parsed(text: string): unknown {
  try {
    return clean(JSON.parse(text, keepExact), 1);
  } catch {
    return text;
  }
}

/** An integer that a number would round, such as an ID, stays as its text. */
const keepExact = (_key: string, value: unknown, context?: { source?: string }): unknown =>
  typeof value === 'number' && /^-?\d+$/.test(context?.source ?? '') && !Number.isSafeInteger(value)
    ? context!.source
    : value;

/** Without NUL and halves of surrogate pairs, which PostgreSQL can't keep. */
const storable = (text: string) => text.replace(/\0|\p{Surrogate}/gu, '\ufffd');

/** A copy without what a context can't hold. Throws where it nests too deeply. */
function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return storable(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) throw new RangeError('too deep');
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  const entries = Object.entries(value).filter(([key]) => !FORBIDDEN.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [storable(key), clean(item, depth + 1)]));
}
