import spectral from '@stoplight/spectral-core';

/** The rule that looks at examples of schemas. */
export const SCHEMA_EXAMPLES = 'oas3-valid-schema-example';

const { Ruleset, Spectral } = spectral;

/** What Spectral has to say of a document from warnings up, a line each. */
export async function complaints(document: object, ruleset: object): Promise<string[]> {
  const linter = new Spectral();
  linter.setRuleset(new Ruleset(ruleset));
  const found = await linter.run(document as Record<string, unknown>);
  return found
    .filter(({ severity }) => severity <= 1)
    .map(({ code, path, message }) => `${code} ${path.join('.')} ${message}`);
}
