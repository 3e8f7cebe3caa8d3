import type { Node } from './definition.ts';
import type { Graph } from './definition-graph.ts';
import { textsOf } from './node-texts.ts';
import { neededPaths } from './template-paths.ts';

/** A template that can't have a value: the node, where in it, and the key of the context. */
export interface UnsetVariable {
  nodeId: string;
  at: string;
  key: string;
}

/** The keys of the context that a node may set, whichever way it is left. */
function keysSetBy(node: Node): string[] {
  if (node.type === 'call') return ['call'];
  if (node.type === 'set') return Object.keys(node.values);
  return 'saveAs' in node && node.saveAs !== undefined ? [node.saveAs] : [];
}

/** The templates whose key no path from the start sets before their node, neither a node nor the start itself. */
export function unsetVariables(graph: Graph, startNodeId: string, requiredContext: readonly string[]): UnsetVariable[] {
  const before = new Map([[startNodeId, new Set(requiredContext)]]);
  const changed = [startNodeId];
  for (let id = changed.pop(); id !== undefined; id = changed.pop()) {
    const after = new Set([...before.get(id)!, ...keysSetBy(graph.nodes.get(id)!)]);
    for (const next of graph.next(id)) {
      if (!graph.nodes.has(next)) continue;
      const known = before.get(next);
      const joined = new Set([...(known ?? []), ...after]);
      if (known && joined.size === known.size) continue;
      before.set(next, joined);
      changed.push(next);
    }
  }
  return [...before].flatMap(([nodeId, keys]) =>
    textsOf(graph.nodes.get(nodeId)!)
      .filter(({ mayBeAbsent }) => !mayBeAbsent)
      .flatMap(({ at, text }) => {
        const firsts = new Set(neededPaths(text).map((path) => path.split('.')[0]!));
        return [...firsts].filter((key) => !keys.has(key)).map((key) => ({ nodeId, at, key }));
      }),
  );
}
