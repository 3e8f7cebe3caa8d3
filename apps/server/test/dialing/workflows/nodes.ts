import type { Definition, Node } from '../../../src/dialing/workflows/definitions/definition.ts';

/** A definition of some nodes; it begins at the first. */
export const definitionOf = (nodes: Node[], given: Partial<Definition> = {}): Definition => ({
  name: 'Test',
  startNodeId: nodes[0]!.id,
  nodes,
  ...given,
});

export const end = (id = 'done', given: Partial<Node & { type: 'end' }> = {}): Node => ({
  id,
  type: 'end',
  title: id,
  status: 'completed',
  ...given,
});

export const set = (id: string, values: Record<string, unknown>, next = 'done'): Node => ({
  id,
  type: 'set',
  title: id,
  values,
  next,
});

export const wait = (id: string, seconds: number, next = 'done'): Node => ({
  id,
  type: 'wait',
  title: id,
  seconds,
  next,
});
