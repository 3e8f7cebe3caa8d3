/** Takes the texts of these names from the query of an address, and leaves out what is empty or no text. */
export const textsOf =
  <Name extends string>(...names: Name[]) =>
  (query: Record<string, unknown>): { [Key in Name]?: string } =>
    Object.fromEntries(
      names
        .map((name) => [name, query[name]] as const)
        .filter(([, value]) => (typeof value === 'string' && value !== '') || typeof value === 'number')
        .map(([name, value]) => [name, String(value)]),
    ) as { [Key in Name]?: string };
