const NAMES: Readonly<Record<string, string>> = {
  Gl: 'list',
  Pb: 'create',
  Pbk: 'create',
  'G/*': 'get',
  'Ab/*': 'update',
  'D/*': 'delete',
};

/** The name that most methods of a shape have, such as `G/*`: that of what is done, or of the last part of the path. */
export const usualName = (shape: string): string =>
  NAMES[shape] ?? shape.replace(/.*\//, '').replace(/-./g, ([, letter = '']) => letter.toUpperCase());
