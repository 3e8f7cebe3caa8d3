import { createInstance, getHttpOperationsFromSpec, type IHttpConfig } from '@stoplight/prism-http';
import type { Answer } from '@trunkline/server/foundation/http/answer';
import type { ContractDocument, Operation } from '@trunkline/server/foundation/http/contract';
import { errorAnswer } from '@trunkline/server/foundation/http/errors';
import { type ErrorCode, type ErrorDetail, ServiceError } from '@trunkline/server/foundation/values/service-error';
import type { ForcedAnswer } from './mock.ts';

/** Answers an operation by an example of the contract. */
export type AnswerOperation = (operation: Operation, wanted: ForcedAnswer) => Promise<Answer>;

/** The edge sends them itself, or they say of every answer what is true of few. */
const LEFT_OUT = /^(?:x-request-id|content-type|idempotent-replayed)$/i;

const nothing = () => undefined;
const silent = { ...Object.fromEntries(levels().map((level) => [level, nothing])), child: () => silent };
function levels() {
  return ['trace', 'debug', 'info', 'success', 'warn', 'error', 'fatal'];
}

/**
 * Has Prism make the answers. It checks nothing: the server's own edge stands before it, and has let the request through.
 */
export async function createAnswers(contract: ContractDocument): Promise<AnswerOperation> {
  const unchecked = { isProxy: false, validateRequest: false, validateResponse: false, checkSecurity: false } as const;
  const config: IHttpConfig = { ...unchecked, errors: false, upstreamProxy: undefined, mock: { dynamic: false } };
  const prism = createInstance(config, { logger: silent as never });
  const resources = await getHttpOperationsFromSpec(structuredClone(contract));
  const resourceOf = new Map(resources.map((resource) => [resource.iid, resource]));
  return async (operation, { status, example }) => {
    const mock = { dynamic: false, ...(status && { code: status }), ...(example && { exampleKey: example }) };
    const request = { method: operation.method.toLowerCase() as 'get', url: { path: operation.path } };
    const result = await prism.request(request, [resourceOf.get(operation.id)!], { ...config, mock })();
    if (result._tag === 'Left') throw result.left;
    const { statusCode, headers = {}, body } = result.right.output;
    const kept = Object.entries(headers).filter(([name]) => !LEFT_OUT.test(name));
    const sent = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
    return { status: statusCode, body, headers: { ...sent, ...(statusCode >= 400 && headersOf(body as ErrorBody)) } };
  };
}

interface ErrorBody {
  code: ErrorCode;
  error: string;
  details?: ErrorDetail[];
}

/** Those that the server sends with an error, which hang on its code. */
const headersOf = ({ code, error }: ErrorBody) => errorAnswer(new ServiceError(code, error), '').headers;
