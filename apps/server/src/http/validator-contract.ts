import { type ContractDocument, operationsIn, type Parameter, resolve, type Schema } from './contract.ts';
import { tellShapesApart } from './tagged-shapes.ts';

/**
 * A copy of the contract that the validator can be given, with its weak spots taken out: parameters stand in place,
 * with their schemas (it would look both up in each request); reserved characters in a query are as good as encoded
 * ones; a body that isn't required says so (silence is 415 to it); no discriminator (it answers a mapping with 500);
 * shapes that a property tells apart are looked at one by one.
 */
export function forValidator(contract: ContractDocument): ContractDocument {
  const document = structuredClone(contract);
  delete document.webhooks;
  for (const { item, operation } of operationsIn(document)) {
    operation.parameters = parametersOf(document, item.parameters, operation.parameters);
    if (operation.requestBody) operation.requestBody = { required: false, ...resolve(document, operation.requestBody) };
  }
  for (const item of Object.values(document.paths)) delete item.parameters;
  dropDiscriminators(document);
  tellShapesApart(document, (schema) => resolve(document, schema));
  return document;
}

function parametersOf(document: ContractDocument, shared: Parameter[] = [], own: Parameter[] = []): Parameter[] {
  return [...shared, ...own].map((reference) => {
    const parameter = resolve(document, reference);
    const inQuery = parameter.in === 'query' ? { allowReserved: true } : {};
    return { ...parameter, ...inQuery, schema: structuredClone(resolve(document, parameter.schema)) };
  });
}

function dropDiscriminators(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const { discriminator } = node as Schema;
  if (typeof discriminator === 'object' && discriminator !== null && 'propertyName' in discriminator)
    delete (node as Schema).discriminator;
  for (const child of Object.values(node)) dropDiscriminators(child);
}
