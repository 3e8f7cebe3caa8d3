import type { Definition } from './definition.ts';

/** The keys that a definition requires of a start and that a context lacks. */
export const missingContext = (
  { requiredContext = [] }: Definition,
  context: Readonly<Record<string, unknown>>,
): string[] => requiredContext.filter((key) => !Object.hasOwn(context, key));
