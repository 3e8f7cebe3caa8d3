const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Why PostgreSQL can't keep a text: NUL, or half of a surrogate pair. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain NUL';
  return LONE_SURROGATE.test(text) ? 'must be well-formed Unicode' : undefined;
}

/** Why a property of something that was sent can't have this name: some can change an object's prototype. */
export const nameFault = (name: string): string | undefined =>
  FORBIDDEN.has(name) ? `must not have a property ${name}` : textFault(name);
