import type { Node } from './definition.ts';

/** A text of a node in which templates are filled in, and where it stands: `url`, `cases/0/when/left`. */
export interface NodeText {
  at: string;
  text: string;
  /** What it is about may be absent: the left side of `exists` and `not_exists`. */
  mayBeAbsent?: boolean;
}

/** Every text of a node in which templates are filled in. */
export function textsOf(node: Node): NodeText[] {
  switch (node.type) {
    case 'call':
      return [{ at: 'to', text: node.to }, ...textsIn(node.variables, 'variables')];
    case 'wait':
      return textsIn(node.until, 'until');
    case 'branch':
      return node.cases.flatMap(({ when: { left, operator, right } }, index) => [
        { at: `cases/${index}/when/left`, text: left, mayBeAbsent: operator === 'exists' || operator === 'not_exists' },
        ...textsIn(right, `cases/${index}/when/right`),
      ]);
    case 'set':
      return textsIn(node.values, 'values');
    case 'http':
      return [{ at: 'url', text: node.url }, ...textsIn(node.headers, 'headers'), ...textsIn(node.body, 'body')];
    case 'workflow':
      return textsIn(node.context, 'context');
    case 'end':
      return textsIn(node.output, 'output');
  }
}

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

function textsIn(value: unknown, at: string): NodeText[] {
  if (typeof value === 'string') return [{ at, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => textsIn(part, `${at}/${escaped(key)}`));
}
