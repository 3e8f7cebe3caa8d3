import { type ContractDocument, type Operation, operationsOf, type RequestParts } from './contract.ts';
import { loadChecks, type OperationChecks } from './validator-checks.ts';
import { alone, withErrorsAsOne } from './validator-contract.ts';

/** express-openapi-validator, told for each operation which it is, so that it searches no path itself. */
export interface Validator {
  operations: Operation[];
  /** Checks a request. Rejects with what express-openapi-validator throws; `requestFault` reads that. */
  request(operation: Operation, parts: RequestParts): Promise<void>;
  /** Checks an answer; returns what is wrong with it, if anything. */
  response(operation: Operation, status: number, body: unknown): string | undefined;
}

/**
 * Up to so many values every fault is named; above, the first. The validator joins the faults of a list by copying, so
 * that its time grows with their square: a body of 2 MiB held it for minutes.
 */
const MANY_VALUES = 10_000;

/** Makes a validator of a document that `forValidator` made. Throws where the contract has a fault. */
export async function createValidator(document: ContractDocument): Promise<Validator> {
  const operations = operationsOf(document);
  const thorough = await loadChecks(withErrorsAsOne(document), operations, true);
  const brief = new Map<Operation, Promise<OperationChecks>>();
  // All operations at once would hold others up for as long as half of a server's start.
  const briefOf = async (operation: Operation) => {
    const checks = await loadChecks(withErrorsAsOne(alone(document, operation.path)), [operation], false);
    return checks.get(operation)!;
  };
  return {
    operations,
    async request(operation, parts) {
      if (parts.values <= MANY_VALUES) return thorough.get(operation)!.request(parts);
      const checks = brief.get(operation) ?? briefOf(operation);
      brief.set(operation, checks);
      return (await checks).request(parts);
    },
    response: (operation, status, body) =>
      undeclared(operation, status, body) ?? thorough.get(operation)!.response(status, body),
  };
}

/** What the validator itself doesn't look at: anything from 500 up, and which codes a status can bear. */
function undeclared(operation: Operation, status: number, body: unknown): string | undefined {
  if (!operation.statuses.has(status)) return `status ${status} is not declared for ${operation.id}`;
  const codes = operation.statuses.get(status);
  if (!codes) return undefined;
  const code = (body as { code?: never } | undefined)?.code;
  return code && !codes.has(code) ? `code ${code} is not declared for ${operation.id} ${status}` : undefined;
}
