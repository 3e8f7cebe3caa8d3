import type { ContractDocument, ContractOperation, Operation, Parameter } from '../../src/foundation/http/contract.ts';

type Examples = Record<string, { value: unknown }>;

/**
 * The request that the contract shows for an operation of this document: all that is required, as in the first example
 * of each part. Returns method, path, and body with headers. A body of multipart comes without parts: the edge leaves
 * those to the handler.
 */
export function exampleRequest(document: ContractDocument, { method, path, parameters }: Operation) {
  const { requestBody } = document.paths[path]![method.toLowerCase()] as ContractOperation;
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const [example] = Object.values((content as { examples?: Examples } | undefined)?.examples ?? {});
  const placeOf = (_: string, name: string) => encodeURIComponent(exampleOf(parameters.find(isIn('path', name))!));
  const headers = Object.fromEntries(
    parameters.filter((each) => each.in === 'header' && each.required).map((each) => [each.name, exampleOf(each)]),
  );
  if (type === 'multipart/form-data') headers['Content-Type'] = `${type}; boundary=x`;
  const body = type === 'application/json' ? example!.value : type && '--x--\r\n';
  return [method, path.replaceAll(/\{([^}]+)\}/g, placeOf), { body, headers }] as const;
}

const isIn = (place: Parameter['in'], name: string) => (each: Parameter) => each.in === place && each.name === name;

const exampleOf = (parameter: Parameter & { example?: string }) => parameter.example!;
