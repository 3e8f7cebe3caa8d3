const PARTS = ['allOf', 'oneOf', 'anyOf', 'prefixItems'];

const has = (schema, keyword) => schema[keyword] !== undefined;

/** What is unbounded about one schema, its parts left out. */
function faults(schema) {
  const types = [schema.type ?? []].flat();
  if (has(schema, 'enum') || has(schema, 'const')) return [];
  const found = [];
  if (types.includes('string') && !has(schema, 'maxLength') && schema.format !== 'date-time') {
    found.push('a string needs maxLength');
  }
  if (types.includes('array') && !has(schema, 'maxItems')) found.push('an array needs maxItems');
  if (types.includes('array') && !has(schema, 'items')) found.push('an array needs items');
  if (types.includes('integer') || types.includes('number')) {
    if (!has(schema, 'minimum') && !has(schema, 'exclusiveMinimum')) found.push('a number needs minimum');
    if (!has(schema, 'maximum') && !has(schema, 'exclusiveMaximum')) found.push('a number needs maximum');
  }
  if (types.includes('object')) {
    const closed = schema.additionalProperties === false || schema.unevaluatedProperties === false;
    if (!closed && !has(schema, 'maxProperties'))
      found.push('an object needs additionalProperties: false or maxProperties');
  }
  const says = types.length > 0 || has(schema, 'not') || PARTS.some((part) => has(schema, part));
  if (!says) found.push('a schema needs a type');
  return found;
}

/** The schemas inside a schema, with the way to each. */
function inside(schema) {
  const found = Object.entries(schema.properties ?? {}).map(([name, part]) => [['properties', name], part]);
  for (const part of PARTS) found.push(...(schema[part] ?? []).map((each, index) => [[part, index], each]));
  for (const keyword of ['items', 'additionalProperties']) {
    if (schema[keyword] && typeof schema[keyword] === 'object') found.push([[keyword], schema[keyword]]);
  }
  if (schema.propertyNames) found.push([['propertyNames'], { type: 'string', ...schema.propertyNames }]);
  return found;
}

/**
 * Everything that a stranger can send has an end: strings, arrays, numbers and objects of request bodies and parameters.
 * `x-bounds` on a schema says in words why one without bounds is right, and where it is bounded instead.
 */
export function requestBounds() {
  const seen = new Set();

  function check(reference, from, context) {
    const { node: schema, location } = context.resolve(reference, from.source.absoluteRef);
    const at = reference.$ref ? location : from;
    if (!schema || typeof schema !== 'object' || seen.has(at.absolutePointer)) return;
    seen.add(at.absolutePointer);
    if (!schema['x-bounds']) {
      for (const fault of faults(schema)) context.report({ message: `Unbounded input: ${fault}.`, location: at });
    }
    for (const [way, part] of inside(schema)) check(part, at.child(way), context);
  }

  const visit = (holder, context) => {
    if (holder.schema) check(holder.schema, context.location.child('schema'), context);
  };
  return { Paths: { Parameter: visit, RequestBody: { MediaType: visit } } };
}
