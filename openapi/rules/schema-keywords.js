const KEYWORDS = new Set([
  ...['title', 'description', 'summary', 'default', 'deprecated', 'readOnly', 'writeOnly', 'example', 'examples'],
  ...['type', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength', 'contentEncoding'],
  ...['contentMediaType', 'contentSchema'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['items', 'prefixItems', 'contains', 'minContains', 'maxContains', 'minItems', 'maxItems', 'uniqueItems'],
  ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'],
  ...['required', 'dependentRequired', 'minProperties', 'maxProperties'],
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'discriminator'],
]);
/** Ours. */
export const EXTENSIONS = [
  ...['x-help', 'x-judged', 'x-transitions', 'x-enum-varnames', 'x-excludes', 'x-bounds', 'x-error-code'],
  ...['x-tells-shapes', 'x-open', 'x-permissions'],
];

/** JavaScript ends a regular expression at these, and some generators write out what is escaped. */
const ENDS_OF_LINES = /\\u(?:\{0*(?:a|d|202[89])\}|000a|000d|202[89])|[\n\r\u2028\u2029]/i;

/**
 * A schema has the keywords that there are, beside a `$ref` too: a description that YAML splits at a comma makes others.
 * No pattern names an end of a line by its number.
 */
export function schemaKeywords() {
  const check = (schema, { report, location }) => {
    for (const keyword of Object.keys(schema)) {
      if (KEYWORDS.has(keyword) || EXTENSIONS.includes(keyword)) continue;
      report({ message: `There is no keyword ${keyword}.`, location: location.child(keyword).key() });
    }
    if (ENDS_OF_LINES.test(schema.pattern ?? '')) {
      const message = 'The pattern names an end of a line by its number.';
      report({ message, location: location.child('pattern') });
    }
  };
  return { ref: check, Schema: check };
}
