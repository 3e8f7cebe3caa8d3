/** Every property of every schema says what it means, itself or by what it refers to. */
export function propertiesDescribed() {
  return {
    Schema(schema, { report, location, resolve }) {
      for (const [name, property] of Object.entries(schema.properties ?? {})) {
        if (property === null || typeof property !== 'object') continue;
        if (property.description || resolve(property).node?.description) continue;
        report({ message: `${name} has no description.`, location: location.child(['properties', name]).key() });
      }
    },
  };
}
