/**
 * What an agent is told of a contact: its name, and its columns by name; those without a value are left out.
 * @param columns of the contact's list, in the order of `values`
 */
export function callVariables(
  columns: readonly string[],
  values: readonly (string | null)[],
  name: string | null,
): Record<string, string> {
  const variables: Record<string, string> = {};
  if (name !== null) variables['name'] = name;
  for (const [at, column] of columns.entries()) if (values[at] != null) variables[column] = values[at];
  return variables;
}
