import type { ContractDocument, Operation } from '../../src/foundation/http/contract.ts';
import { badRequests } from './bad-requests.ts';
import { exampleRequest } from './example-request.ts';

/** A request that is right, or nearly. */
export interface NearRequest {
  name: string;
  method: string;
  path: string;
  /** A body that is not text goes as JSON. */
  request: { body?: unknown; headers?: Record<string, string> };
}

/** Requests to an operation of this document: what its examples show, with more or less than that, and with one fault. */
export function nearRequests(document: ContractDocument, operation: Operation): NearRequest[] {
  const { id, method } = operation;
  const [, path, request] = exampleRequest(document, operation);
  const named = (name: string, more: Partial<NearRequest> = {}) => ({
    name: `${id}, ${name}`,
    method,
    path,
    request,
    ...more,
  });
  const withHeaders = (headers: Record<string, string>) => ({
    request: { ...request, headers: { ...request.headers, ...headers } },
  });
  return [
    named('as its examples show'),
    named('with an unknown parameter', { path: `${path}?nonsense=1` }),
    named('with a parameter of an advertisement', { path: `${path}?utm_source=mail&_=1` }),
    named('with a parameter twice', { path: `${path}?page=1&page=2` }),
    named('with an unknown header', withHeaders({ 'X-Nonsense': '1' })),
    ...(operation.body ? withOtherBodies() : []),
    ...operation.parameters.filter(({ in: place }) => place !== 'path').map(withParameter),
    ...badRequests(document, operation).map((bad) => named(bad.name, bad)),
  ];

  function withOtherBodies(): NearRequest[] {
    const { body } = request;
    const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.keys(body) : [];
    return [
      named('without a body', { request: { headers: request.headers } }),
      named('with a body that is no JSON', { request: { ...request, body: '{"name": ' } }),
      named('with a body of another type', withHeaders({ 'Content-Type': 'text/plain' })),
      named('with a body of null', { request: { ...request, body: 'null' } }),
      ...fields.map((field) => {
        const { [field]: _, ...rest } = body as Record<string, unknown>;
        return named(`without ${field}`, { request: { ...request, body: rest } });
      }),
    ];
  }

  function withParameter(parameter: Operation['parameters'][number] & { example?: unknown }): NearRequest {
    const { name, in: place, example } = parameter;
    const values = [example ?? 'x'].flat().map(String);
    if (place === 'header') return named(`with ${name}`, withHeaders({ [name]: values[0]! }));
    const query = values.map((value) => `${name}=${encodeURIComponent(value)}`).join('&');
    return named(`with ${name}`, { path: `${path}?${query}` });
  }
}
