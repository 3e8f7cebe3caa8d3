import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { openAnswers } from '../open-answers.ts';

interface Example {
  value?: unknown;
}
export interface Media {
  example?: unknown;
  examples?: Record<string, Example>;
}
export interface Parameter extends Media {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
}
interface Reference {
  $ref?: string;
}
export interface Schema {
  enum?: string[];
  pattern?: string;
  properties?: Record<string, Schema>;
}
export interface Response {
  content?: Record<string, Media>;
  'x-error-codes'?: string[];
}
export interface Operation {
  operationId: string;
  'x-permission': string;
  parameters?: (Parameter & Reference)[];
  requestBody?: { content: Record<string, Media> } & Reference;
  responses: Record<string, Response & Reference>;
}
export type PathItem = Record<string, Operation> & { parameters?: (Parameter & Reference)[] };
export interface Contract {
  paths: Record<string, PathItem>;
  components: { schemas: Record<string, Schema>; parameters: object };
}

/** The contract as it is published, in one file, for as long as a test needs it. */
export interface Bundle {
  /** A folder of the test's own, with the file in it. */
  folder: string;
  path: string;
  contract: Contract;
  /** The contract as it is written. */
  closed: Contract;
  /** What a reference inside the contract stands for. */
  resolved<T extends Reference>(value: T): T;
  remove(): Promise<void>;
}

/** A file of this package. */
export const here = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

const run = promisify(execFile);
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Runs a tool of this package's in its folder. */
export const tool = (name: string, ...args: string[]) =>
  run(here(`node_modules/.bin/${name}`), args, { cwd: here('.'), env, maxBuffer: 1e8 });

export async function bundleContract(): Promise<Bundle> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-contract-'));
  const path = join(folder, 'openapi.json');
  const closed: Contract = JSON.parse(await readFile(inject('closed'), 'utf8'));
  const contract = openAnswers(closed as never) as unknown as Contract;
  await writeFile(path, JSON.stringify(contract));
  const at = (found: unknown, key: string) => (found as Record<string, unknown>)[key];
  return {
    folder,
    path,
    contract,
    closed,
    resolved: (value) => (value.$ref ? (value.$ref.slice(2).split('/').reduce(at, contract) as typeof value) : value),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The values of the examples of a body or parameter. */
export const examplesOf = ({ example, examples }: Media): unknown[] =>
  example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example];

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** Every operation, with where it stands. */
export const operationsOf = ({ paths }: Contract) =>
  Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(),
      path,
      item,
      operation: item[method]!,
    })),
  );
