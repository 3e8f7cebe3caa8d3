import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadContract } from '../src/http/app.ts';
import { forValidator, operationsOf } from '../src/http/contract.ts';
import { notImplemented } from '../src/http/not-implemented.ts';

/** Where the test processes of a run, whose runner has this process ID, write down what they saw. */
const folderOf = (runner: number) => path.join(tmpdir(), `trunkline-statuses-${runner}`);

const key = (operationId: string, status: number) => `${operationId} ${status}`;

/** Writes down that a test saw this operation answer with this status. */
export function noteStatus(operationId: string, status: number): void {
  const folder = folderOf(process.ppid);
  mkdirSync(folder, { recursive: true });
  appendFileSync(path.join(folder, `${process.pid}.txt`), `${key(operationId, status)}\n`);
}

/**
 * Called by the runner's own process after all tests: the statuses that the contract names for the operations that are
 * built, and that no test saw. Forgets the run.
 */
export function statusesNotSeen(runner: number = process.pid): string[] {
  const folder = folderOf(runner);
  mkdirSync(folder, { recursive: true });
  const lines = readdirSync(folder).flatMap((file) => readFileSync(path.join(folder, file), 'utf8').split('\n'));
  rmSync(folder, { recursive: true });
  const seen = new Set(lines);
  const unbuilt = new Set<string>(notImplemented);
  return operationsOf(forValidator(loadContract()))
    .filter(({ id }) => !unbuilt.has(id))
    .flatMap(({ id, statuses }) => [...statuses.keys()].map((status) => key(id, status)))
    .filter((each) => !seen.has(each));
}
