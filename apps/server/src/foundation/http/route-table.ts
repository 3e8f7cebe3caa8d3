/** A path of the contract: its operations by method, and what it is called. */
export interface Route<T> {
  path: string;
  methods: Map<string, T>;
}

/** A path that was found, with the values of its parameters, decoded. */
export interface RouteMatch<T> {
  route: Route<T>;
  params: Record<string, string>;
}

interface Node<T> {
  fixed: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  names: string[];
  route: Route<T> | undefined;
}

const newNode = <T>(): Node<T> => ({ fixed: new Map(), parameter: undefined, names: [], route: undefined });

/**
 * The contract's paths as a tree of segments. A fixed segment wins over a parameter, so `/v1/calls/campaigns` is never
 * a call whose ID is `campaigns`.
 */
export class RouteTable<T> {
  readonly #root = newNode<T>();

  /** Adds one operation under a path template such as `/v1/calls/{roomId}`. */
  add(method: string, path: string, value: T): void {
    let node = this.#root;
    const names: string[] = [];
    for (const segment of path.slice(1).split('/')) {
      if (segment.startsWith('{')) {
        names.push(segment.slice(1, -1));
        node.parameter ??= newNode<T>();
        node = node.parameter;
      } else {
        const next = node.fixed.get(segment) ?? newNode<T>();
        node.fixed.set(segment, next);
        node = next;
      }
    }
    node.names = names;
    node.route ??= { path, methods: new Map() };
    node.route.methods.set(method, value);
  }

  /** The route of a URL path, or nothing. Throws `URIError` where a parameter is not decodable. */
  match(path: string): RouteMatch<T> | undefined {
    const values: string[] = [];
    const node = find(this.#root, path.slice(1).split('/'), 0, values);
    if (!node?.route) return undefined;
    const params: Record<string, string> = {};
    for (const [index, name] of node.names.entries()) params[name] = decodeURIComponent(values[index]!);
    return { route: node.route, params };
  }
}

function find<T>(node: Node<T>, segments: string[], index: number, values: string[]): Node<T> | undefined {
  if (index === segments.length) return node.route ? node : undefined;
  const segment = segments[index]!;
  const fixed = node.fixed.get(segment);
  const found = fixed && find(fixed, segments, index + 1, values);
  if (found) return found;
  if (!node.parameter || segment === '') return undefined;
  values.push(segment);
  const below = find(node.parameter, segments, index + 1, values);
  if (!below) values.pop();
  return below;
}
