import type { ContractDocument, Schema } from './contract.ts';

/** A schema's shapes, and the property whose constant value tells which one is meant. */
interface Tagged {
  tag: string;
  shapes: { value: unknown; schema: Schema }[];
}

/**
 * Rewrites each `oneOf` of shapes that a required property tells apart by a constant, such as a node's `type`. Ajv names
 * the faults of every shape of a `oneOf`; by `if` and `else` it looks at the one that is meant, and names its faults only.
 * Both accept the same. `follow` follows a schema's `$ref`.
 */
export function tellShapesApart(document: ContractDocument, follow: (schema: Schema) => Schema): void {
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const schema = node as Schema;
    const tagged = Array.isArray(schema.oneOf) ? taggedBy(schema.oneOf, follow) : undefined;
    if (tagged) rewrite(schema, tagged);
    else for (const child of Object.values(node)) visit(child);
  };
  visit(document);
}

function taggedBy(oneOf: Schema[], follow: (schema: Schema) => Schema): Tagged | undefined {
  const shapes = oneOf.map(follow);
  const [first, ...others] = shapes;
  const tag = Object.keys(first?.properties ?? {}).find((name) => constantOf(first!, name) !== undefined);
  if (tag === undefined || others.length === 0) return undefined;
  const values = shapes.map((shape) => constantOf(shape, tag));
  if (values.includes(undefined) || new Set(values).size < values.length) return undefined;
  return { tag, shapes: oneOf.map((schema, index) => ({ value: values[index], schema })) };
}

const constantOf = (shape: Schema, name: string): unknown =>
  shape.required?.includes(name) ? shape.properties?.[name]?.const : undefined;

function rewrite(schema: Schema, { tag, shapes }: Tagged): void {
  delete schema.oneOf;
  schema.type = 'object';
  schema.required = [tag];
  schema.properties = { [tag]: { enum: shapes.map(({ value }) => value) } };
  schema.allOf = shapes.map((shape) => ({
    if: { properties: { [tag]: { not: { const: shape.value } } } },
    else: shape.schema,
  }));
}
