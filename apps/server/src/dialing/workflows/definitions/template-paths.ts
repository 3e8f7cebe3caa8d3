import { parseTemplates } from './parse-template.ts';

const templatesOf = (text: string) => parseTemplates(text).parts.filter((part) => typeof part !== 'string');

/** Every path that the templates of a text name, also in their filters. */
export const templatePaths = (text: string): string[] =>
  templatesOf(text).flatMap(({ path, filters }) => [path, ...filters.flatMap(({ paths }) => paths.all)]);

/** The paths of those without which they have no value. */
export const neededPaths = (text: string): string[] =>
  templatesOf(text).flatMap(({ path, filters }) => [
    ...(filters.some(({ name }) => name === 'default') ? [] : [path]),
    ...filters.flatMap(({ paths }) => paths.needed),
  ]);

/** A text with something else in the place of each template. */
export const withoutTemplates = (text: string, instead: string): string =>
  parseTemplates(text)
    .parts.map((part) => (typeof part === 'string' ? part : instead))
    .join('');

/** How many of the templates of a text have filters. */
export const filteredTemplates = (text: string): number =>
  templatesOf(text).filter(({ filters }) => filters.length > 0).length;
