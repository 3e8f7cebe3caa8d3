/** Those of the permissions `wanted` that who has those `held` may not use. */
export const lacking = (held: readonly string[], wanted: readonly string[]): string[] =>
  held.includes('*') ? [] : wanted.filter((each) => !held.includes(each));
