import type { Definition, Node } from './definition.ts';

/** A way from one node to the next, and where the definition names it: `next`, `outcomes/busy`, `cases/0/next`. */
export interface Edge {
  to: string;
  at: string;
}

/** Every way out of a node. */
export function edgesOf(node: Node): Edge[] {
  switch (node.type) {
    case 'end':
      return [];
    case 'call': {
      const outcomes = Object.entries(node.outcomes ?? {});
      return [...outcomes.map(([outcome, to]) => ({ to, at: `outcomes/${outcome}` })), { to: node.next, at: 'next' }];
    }
    case 'branch': {
      const cases = node.cases.map(({ next }, index) => ({ to: next, at: `cases/${index}/next` }));
      return [...cases, { to: node.next, at: 'next' }];
    }
    case 'http':
    case 'workflow': {
      const next = [{ to: node.next, at: 'next' }];
      return node.onError === undefined ? next : [...next, { to: node.onError, at: 'onError' }];
    }
    default:
      return [{ to: node.next, at: 'next' }];
  }
}

/** A definition as the checks walk it. Of nodes with one ID the first counts. */
export interface Graph {
  nodes: ReadonlyMap<string, Node>;
  /** The IDs that a node leads to, unknown ones among them. */
  next(id: string): string[];
  /** The nodes that lead to a node. */
  previous(id: string): string[];
}

export function graphOf({ nodes: list }: Definition): Graph {
  const nodes = new Map<string, Node>();
  for (const node of list) if (!nodes.has(node.id)) nodes.set(node.id, node);
  const next = new Map([...nodes.values()].map((node) => [node.id, edgesOf(node).map(({ to }) => to)]));
  const previous = new Map<string, string[]>();
  for (const [id, targets] of next)
    for (const target of new Set(targets)) previous.set(target, [...(previous.get(target) ?? []), id]);
  return { nodes, next: (id) => next.get(id) ?? [], previous: (id) => previous.get(id) ?? [] };
}

/** What can be reached from some nodes by steps, themselves included. */
export function closure(from: Iterable<string>, step: (id: string) => Iterable<string>): Set<string> {
  const found = new Set(from);
  for (const id of found) for (const to of step(id)) found.add(to);
  return found;
}

/** The cycles that hold none of the nodes that `breaks`: sets of nodes of which each leads to each. */
export function cyclesWithout(graph: Graph, breaks: (node: Node) => boolean): string[][] {
  const open = new Set([...graph.nodes.values()].filter((node) => !breaks(node)).map(({ id }) => id));
  const within = (ids: string[]) => ids.filter((id) => open.has(id));
  const seen = new Set<string>();
  const cycles: string[][] = [];
  for (const id of open) {
    if (seen.has(id)) continue;
    const after = closure(within(graph.next(id)), (at) => within(graph.next(at)));
    if (!after.has(id)) continue;
    const before = closure([id], (at) => within(graph.previous(at)));
    const cycle = [...open].filter((at) => after.has(at) && before.has(at));
    for (const at of cycle) seen.add(at);
    cycles.push(cycle);
  }
  return cycles;
}
