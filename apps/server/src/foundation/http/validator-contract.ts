import { type ContractDocument, operationsIn, type Parameter, resolve, type Schema } from './contract.ts';
import { tellShapesApart } from './tagged-shapes.ts';

/**
 * A copy of the contract that the validator can be given, with its weak spots taken out: parameters stand in place,
 * with their schemas (it would look both up in each request); reserved characters in a query are as good as encoded
 * ones; a body that isn't required says so (silence is 415 to it), and one in parts has no schema (handlers read those);
 * no discriminator (it answers a mapping with 500); shapes that a property tells apart are looked at one by one; what bears
 * `x-judged` may be anything: its operation judges each, so that a fault of one refuses no other.
 */
export function forValidator(contract: ContractDocument): ContractDocument {
  const document = structuredClone(contract);
  delete document.webhooks;
  for (const { item, operation } of operationsIn(document)) {
    operation.parameters = parametersOf(document, item.parameters, operation.parameters);
    if (operation.requestBody) operation.requestBody = { required: false, ...resolve(document, operation.requestBody) };
    const inParts = operation.requestBody?.content['multipart/form-data'];
    if (inParts) delete inParts.schema;
  }
  for (const item of Object.values(document.paths)) delete item.parameters;
  dropDiscriminators(document);
  leaveJudged(document);
  tellShapesApart(document, (schema) => resolve(document, schema));
  return document;
}

/**
 * A copy in which the errors of an operation are one `default` where they are of the one shape that errors have: the
 * validator compiles each status by itself. And what the references of bodies lead to stands in their place: the validator
 * puts it there too, and compiles it to find out where they lead.
 */
export function withErrorsAsOne(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document);
  const putInPlace = (content: Content) => {
    for (const media of Object.values(content)) if (media.schema) media.schema = resolve(copy, media.schema);
  };
  for (const { operation } of operationsIn(copy)) {
    const { responses, requestBody } = operation;
    if (requestBody) putInPlace(requestBody.content);
    for (const [status, reference] of Object.entries(responses)) {
      const response = resolve(copy, reference) as { content?: Content };
      responses[status] = response;
      if (response.content?.['application/json']?.schema?.$ref !== ERROR) putInPlace(response.content ?? {});
      else {
        delete responses[status];
        responses['default'] = { content: { 'application/json': { schema: resolve(copy, { $ref: ERROR }) } } };
      }
    }
  }
  return copy;
}

/** The contract of one path alone, with the components that it refers to: a sixth of the time to compile. */
export function alone(document: ContractDocument, path: string): ContractDocument {
  const components: Record<string, Record<string, unknown>> = {};
  const take = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { $ref } = node as { $ref?: unknown };
    const [, kind, name] = (typeof $ref === 'string' && /^#\/components\/([^/]+)\/([^/]+)/.exec($ref)) || [];
    if (kind !== undefined && name !== undefined && components[kind]?.[name] === undefined) {
      const found = (document.components as typeof components)[kind]![name];
      components[kind] = { ...components[kind], [name]: found };
      take(found);
    }
    for (const child of Object.values(node)) take(child);
  };
  take(document.paths[path]);
  return { ...document, paths: { [path]: document.paths[path]! }, components };
}

type Content = Record<string, { schema?: Schema }>;

const ERROR = '#/components/schemas/Error';

function parametersOf(document: ContractDocument, shared: Parameter[] = [], own: Parameter[] = []): Parameter[] {
  return [...shared, ...own].map((reference) => {
    const parameter = resolve(document, reference);
    const inQuery = parameter.in === 'query' ? { allowReserved: true } : {};
    return { ...parameter, ...inQuery, schema: structuredClone(resolve(document, parameter.schema)) };
  });
}

function leaveJudged(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('x-judged' in node) for (const key of Object.keys(node)) delete (node as Record<string, unknown>)[key];
  for (const child of Object.values(node)) leaveJudged(child);
}

function dropDiscriminators(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const { discriminator } = node as Schema;
  if (typeof discriminator === 'object' && discriminator !== null && 'propertyName' in discriminator)
    delete (node as Schema).discriminator;
  for (const child of Object.values(node)) dropDiscriminators(child);
}
