import type { ContractDocument, Operation } from '@trunkline/server/foundation/http/contract';
import { examplesOf, successOf } from './contract.ts';
import type { ForcedAnswer } from './mock.ts';

/** What `Prefer: code=409, example=campaign_not_startable` asks for, as Prism reads it. */
export function readPrefer(header: string | undefined): ForcedAnswer | undefined {
  const [code, example] = ['code', 'example'].map(
    (name) => new RegExp(`\\b${name}\\s*=\\s*"?([\\w.-]+)`, 'i').exec(header ?? '')?.[1],
  );
  if (code === undefined && example === undefined) return undefined;
  return { ...(code !== undefined && { status: Number(code) }), ...(example !== undefined && { example }) };
}

/** Why the contract has no such answer, if it has none. */
export function whyNoAnswer(
  contract: ContractDocument,
  operation: Operation,
  wanted: ForcedAnswer,
): string | undefined {
  const { status = successOf(operation), example } = wanted;
  if (!operation.statuses.has(status)) {
    return `${operation.id} has no status ${status}; it has ${[...operation.statuses.keys()].join(', ')}`;
  }
  const names = [...examplesOf(contract, operation, status).keys()];
  if (example === undefined || names.includes(example)) return undefined;
  return `${operation.id} ${status} has no example ${example}; it has ${names.join(', ') || 'none'}`;
}
