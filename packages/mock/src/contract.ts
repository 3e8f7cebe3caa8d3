import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ContractDocument, Operation, Response } from '@trunkline/server/foundation/http/contract';
import { resolve } from '@trunkline/server/foundation/http/contract';

/** In the published package the contract lies beside its code; in the repository it is the workspace's. */
export function loadContract(): ContractDocument {
  const beside = new URL('./openapi.json', import.meta.url);
  const file = existsSync(beside) ? beside : new URL(import.meta.resolve('@trunkline/openapi/openapi.json'));
  return JSON.parse(readFileSync(fileURLToPath(file), 'utf8')) as ContractDocument;
}

/** The contract's examples for a status of an operation, by name. */
export function examplesOf(contract: ContractDocument, operation: Operation, status: number): Map<string, unknown> {
  const item = contract.paths[operation.path]![operation.method.toLowerCase()] as {
    responses: Record<string, Response>;
  };
  const response = item.responses[status];
  const [media] = Object.values((response && resolve(contract, response).content) ?? {}) as Media[];
  return new Map(Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value]));
}

interface Media {
  examples?: Record<string, { value: unknown }>;
}

/** The status of an operation that says that all went well. */
export const successOf = ({ statuses }: Operation): number => Math.min(...statuses.keys());
