import fc from 'fast-check';
import {
  type ContractDocument,
  type ContractOperation,
  operationsIn,
  type Parameter,
  resolve,
} from '../../../src/foundation/http/contract.ts';
import { hostile, nearlyValid } from './hostile.ts';
import { files, sound } from './parts.ts';
import { inUrl, plain } from './url.ts';
import { byName, valuesOf, withTurns } from './values.ts';
import type { Harm } from './wire.ts';

/** A request that is to be sent. `<cmp:3>` in it stands for an ID that the server has made (`made.ts`). */
export interface FuzzRequest {
  operationId: string;
  /** Whether it is sent as the contract has it. */
  isValid: boolean;
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  /** As it goes over the wire: each character is a byte where it is binary, else in UTF-8. */
  body?: string;
  isBinary?: boolean;
  /** So many of it go out at once. */
  copies: number;
  /** It goes out as other bytes than those of a request. */
  harm?: Harm;
  /** Which of the files goes to the URL that the answer names, if it names one. */
  file: number;
}

/** An operation with how its requests are made. */
export interface FuzzedOperation {
  id: string;
  method: string;
  statuses: ReadonlySet<number>;
  requests: fc.Arbitrary<FuzzRequest>;
}

const weighted = <T>(...all: [number, fc.Arbitrary<T>][]) =>
  fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const copies = weighted([30, fc.constant(1)], [1, fc.constant(2)], [1, fc.constant(4)]);

/** Every operation of a contract, with requests that are right, nearly right and hostile. */
export function fuzzedOperations(document: ContractDocument): FuzzedOperation[] {
  const of = valuesOf(document);
  return [...operationsIn(document)].map(({ path, method, item, operation }) => {
    const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) =>
      resolve(document, each),
    );
    const valid = validRequest(operation, { path, method: method.toUpperCase(), parameters });
    const queried = parameters.filter((each) => each.in === 'query').map(({ name }) => name);
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      statuses: new Set(Object.keys(operation.responses).map(Number)),
      requests: weighted<FuzzRequest>([5, valid], [3, nearlyValid(valid)], [2, hostile(valid, queried)]),
    };
  });

  function validRequest(
    operation: ContractOperation,
    { path, method, parameters }: { path: string; method: string; parameters: Parameter[] },
  ): fc.Arbitrary<FuzzRequest> {
    const fields = (wanted: Parameter[]) => {
      const values = Object.fromEntries(wanted.map((each) => [each.name, byName[each.name] ?? of(each.schema)]));
      const requiredKeys = wanted.filter((each) => each.required || each.in === 'path').map((each) => each.name);
      return fc.record(values, { requiredKeys, noNullPrototype: true });
    };
    const at = (place: Parameter['in']) => parameters.filter((each) => each.in === place);
    const { operationId } = operation;
    return fc
      .record({
        path: fields(at('path')),
        query: queryOf(at('query'), fields),
        headers: fields(at('header')),
        body: bodyOf(operation),
        copies,
        file: fc.nat({ max: 1000 }),
      })
      .map(({ path: inPath, query, headers, body, ...rest }) => ({
        ...{ operationId, isValid: true, method },
        path: path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => inUrl(inPath[name])) + textOf(query ?? {}),
        headers: { ...textsOf(headers), ...(body && { 'Content-Type': body.type }) },
        ...(body && { body: body.text }),
        ...rest,
      }));
  }

  function bodyOf({ requestBody }: ContractOperation): fc.Arbitrary<{ type: string; text: string } | undefined> {
    const [type, content] = Object.entries((requestBody && resolve(document, requestBody).content) ?? {})[0] ?? [];
    if (!type || !content) return fc.constant(undefined);
    const isForm = type !== 'application/json';
    if (isForm) return 'file' in (resolve(document, content.schema!).properties ?? {}) ? sound : files;
    const examples = Object.values((content as { examples?: Record<string, { value: unknown }> }).examples ?? {});
    const shown = examples.map(({ value }) => withTurns(value));
    const made = of(content.schema!);
    const value = shown.length > 0 ? fc.oneof(made, fc.constantFrom(...shown)) : made;
    return value.map((each) => ({ type, text: JSON.stringify(each) }));
  }
}

type Fields = (wanted: Parameter[]) => fc.Arbitrary<Record<string, unknown>>;

/** Beside a cursor stands what was asked of its first page, or nothing. */
function queryOf(wanted: Parameter[], fields: Fields): fc.Arbitrary<Record<string, unknown> | undefined> {
  const first = fc.option(fields(wanted.filter(({ name }) => name !== 'cursor')), { nil: undefined });
  const next = fc.constant({ cursor: '<cursor:0>' });
  return wanted.some(({ name }) => name === 'cursor')
    ? weighted<Record<string, unknown> | undefined>([4, first], [1, next])
    : first;
}

const textsOf = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, plain(value).replaceAll(/[^\x20-\x7e]/g, 'x')]),
  );

function textOf(values: Record<string, unknown>): string {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}=${inUrl(each)}`),
  );
  return pairs.length > 0 ? `?${pairs.join('&')}` : '';
}
