const NAMES: Readonly<Record<string, string>> = {
  Gl: 'list',
  Pb: 'create',
  Pbk: 'create',
  'G*': 'get',
  'Ab*': 'update',
  'D*': 'delete',
};

/** What most resources have: list, create, get, update, delete. */
export const USUAL = 'Gl Pbk G* Ab* D*';

/** The name that most methods of a shape have, such as `G*`: that of what is done, or of the last part of the path. */
export function usualName(shape: string): string {
  const last = shape.replace(/.*\//, shape.startsWith('Gl') ? 'list-' : '');
  return NAMES[shape] ?? last.replace(/-./g, ([, letter = '']) => letter.toUpperCase());
}

/** The last part of most paths of a group: `/contact-lists` of `contactLists`. */
export const pathOfGroup = (group: string): string =>
  `/${group.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
