import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { inject } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the test processes of this run write down the statuses that they saw, and whether it runs every test. */
    statuses: { folder: string; wholeRun: boolean };
  }
}

const noted = new Set<string>();

/** Writes down that a test saw this operation answer with this status. */
export function noteStatus(operationId: string, status: number): void {
  const line = `${operationId} ${status}`;
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(path.join(inject('statuses').folder, `${process.pid}.txt`), `${line}\n`);
}

/** What the tests of this run have noted so far, as `operationId status`. */
export function statusesSeen(): Set<string> {
  const { folder } = inject('statuses');
  return new Set(readdirSync(folder).flatMap((file) => readFileSync(path.join(folder, file), 'utf8').split('\n')));
}

/**
 * The statuses that tests must see: all that the contract names, but no 403 of an operation that is open to any key, which
 * nothing can produce.
 */
export function statusesNamed(): string[] {
  return operationsOf(forValidator(loadContract())).flatMap(({ id, permission, statuses }) =>
    [...statuses.keys()]
      .filter((status) => status !== 403 || permission !== 'authenticated')
      .map((status) => `${id} ${status}`),
  );
}
