import {
  type ContractDocument,
  type ContractOperation,
  type Operation,
  resolve,
} from '../../src/foundation/http/contract.ts';
import { badValues, type Resolve, type ValueSchema } from './bad-values.ts';
import { exampleRequest } from './example-request.ts';

/** A request that is right but for one fault. */
export interface BadRequest {
  name: string;
  /** Where the answer has to point to. */
  place: string;
  path: string;
  request: { body?: unknown; headers?: Record<string, string> };
}

/** Requests to an operation of this document, each with one fault: every rule that the contract sets is broken once. */
export function badRequests(document: ContractDocument, operation: Operation): BadRequest[] {
  const [, path, request] = exampleRequest(document, operation);
  const resolved = (schema: ValueSchema) => resolve(document, schema);
  const { requestBody } = document.paths[operation.path]![operation.method.toLowerCase()] as ContractOperation;
  const content = requestBody?.content['application/json'] as { examples?: Record<string, { value: unknown }> };
  const bodies = Object.values(content?.examples ?? {}).flatMap(({ value }) =>
    badValues(resolved, operation.body!.schema as ValueSchema, value).map((bad) => ({
      name: `${['body', ...bad.path].join('.')} ${bad.fault}`,
      place: ['', 'body', ...bad.path].join('/'),
      path,
      request: { ...request, body: JSON.stringify(bad.value) },
    })),
  );
  return [
    ...bodies,
    ...operation.parameters.flatMap((parameter) => badParameters(resolved, operation, parameter, path, request)),
  ];
}

function badParameters(
  resolved: Resolve,
  operation: Operation,
  { name, in: place, schema, ...rest }: Operation['parameters'][number],
  path: string,
  request: BadRequest['request'],
): BadRequest[] {
  const good = (rest as { example?: unknown }).example;
  const values = badValues(resolved, schema as ValueSchema, good)
    // An empty segment is another path; and what is text anyway can't be of another type.
    .filter(({ fault, value }) => !(value === '' && place !== 'query') && !/^of type|^null$/.test(fault))
    .filter(({ value }) => place !== 'header' || /^[\x20-\x7e]*$/.test(String(value)))
    .map(({ fault, value }) => ({ fault, text: String(value) }));
  if ([schema.type].flat().includes('integer')) values.push({ fault: 'a word', text: 'x' });
  return values.map(({ fault, text }) => {
    const sent = {
      name: `${name} ${fault}`,
      place: `/${place === 'header' ? 'headers' : place}/${name}`,
      path,
      request,
    };
    if (place === 'header') return { ...sent, request: { ...request, headers: { ...request.headers, [name]: text } } };
    if (place === 'query') return { ...sent, path: `${path}?${name}=${encodeURIComponent(text)}` };
    const segments = operation.path.split('/');
    const changed = path.split('/');
    changed[segments.indexOf(`{${name}}`)] = encodeURIComponent(text);
    return { ...sent, path: changed.join('/') };
  });
}
