import type { Answer } from '@trunkline/server/foundation/http/answer';
import { type ContractDocument, type Operation, resolve } from '@trunkline/server/foundation/http/contract';
import { errorAnswer } from '@trunkline/server/foundation/http/errors';
import { type ErrorCode, type ErrorDetail, ServiceError } from '@trunkline/server/foundation/values/service-error';
import { examplesOf, responseOf, successOf } from './contract.ts';
import type { ForcedAnswer } from './mock.ts';

/** The edge sends them itself, or they say of every answer what is true of few. */
const LEFT_OUT: readonly string[] = ['X-Request-Id', 'Idempotent-Replayed'];

/** An answer of an operation, by an example of the contract: the one that is wanted, or its first. */
export function answerOf(contract: ContractDocument, operation: Operation, wanted: ForcedAnswer): Answer {
  const { status = successOf(operation), example } = wanted;
  const examples = examplesOf(contract, operation, status);
  const body = example === undefined ? [...examples.values()][0] : examples.get(example);
  const declared = Object.entries(responseOf(contract, operation, status)!.headers ?? {});
  const sent = declared.filter(([name]) => !LEFT_OUT.includes(name));
  const headers = Object.fromEntries(sent.map(([name, header]) => [name, String(resolve(contract, header).example)]));
  return { status, body, headers: { ...headers, ...(status >= 400 && headersOf(body as ErrorBody)) } };
}

interface ErrorBody {
  code: ErrorCode;
  error: string;
  details?: ErrorDetail[];
}

/** Those that the server sends with an error, which hang on its code. */
const headersOf = ({ code, error }: ErrorBody) => errorAnswer(new ServiceError(code, error), '').headers;
