import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CODES_BY_STATUS, PERMISSIONS } from '../rules/closed-lists.js';
import { EXTENSIONS } from '../rules/schema-keywords.js';
import { type Bundle, bundleContract, type Contract, examplesOf, operationsOf } from './bundle.ts';
import { OPERATIONS } from './operations-table.ts';

let bundle: Bundle;
let contract: Contract;

beforeAll(async () => {
  bundle = await bundleContract();
  contract = bundle.contract;
});
afterAll(() => bundle.remove());

/** Where schemas stand: those that have a name, and those of parameters and bodies. */
function schemasOf(node: unknown, pointer = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, child]) => {
    const at = `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    if (key === 'schema' && '$ref' in child) return [];
    if (key === 'schema' || pointer === '/components/schemas') return [at];
    return /^examples?$/.test(key) ? [] : schemasOf(child, at);
  });
}

function ajvOf(document: Contract) {
  const ajv = new Ajv2020({
    strict: true,
    // A schema may require a field of the one that it adds to.
    strictRequired: false,
    validateFormats: false,
    keywords: [...Object.keys(document), 'discriminator', 'example'],
  });
  for (const extension of EXTENSIONS) ajv.addKeyword(extension);
  return ajv.addSchema({ ...document, $id: 'contract' });
}

/** Where a schema has an example, however deep within another, and which of them it doesn't take. */
function wrongExamples(document: Contract): { seen: number; wrong: string[] } {
  const ajv = ajvOf(document);
  const wrong: string[] = [];
  let seen = 0;
  const look = (node: unknown, pointer: string): void => {
    if (typeof node !== 'object' || node === null) return;
    // Of a field that is named so the schema stands there.
    if ('example' in node && !pointer.endsWith('/properties')) {
      seen += 1;
      if (!ajv.validate({ $ref: `contract#${pointer}` }, node.example)) wrong.push(pointer);
    }
    for (const [key, child] of Object.entries(node))
      if (key !== 'example' || pointer.endsWith('/properties'))
        look(child, `${pointer}/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`);
  };
  look(document.components.schemas, '/components/schemas');
  return { seen, wrong };
}

describe('the contract', () => {
  it('holds every operation, and no other', () => {
    const found = operationsOf(contract).map(
      ({ method, path, operation }) => `${method} ${path} ${operation.operationId} ${operation['x-permission']}`,
    );
    const wanted = OPERATIONS.map(
      ({ method, path, operationId, permission }) => `${method} ${path} ${operationId} ${permission}`,
    );
    expect(found.sort()).toEqual(wanted.sort());
  });

  it.each(OPERATIONS)('declares the statuses of $operationId', ({ method, path, statuses }) => {
    const declared = Object.keys(contract.paths[path]![method.toLowerCase()]!.responses);
    expect(declared).toEqual(expect.arrayContaining(statuses));
    expect(declared.filter((status) => status.startsWith('2'))).toEqual(
      statuses.filter((status) => status.startsWith('2')),
    );
  });

  it('has schemas that Ajv compiles in its strict mode', () => {
    const ajv = ajvOf(contract);
    for (const pointer of schemasOf(contract))
      expect(() => ajv.compile({ $ref: `contract#${pointer}` }), pointer).not.toThrow();
  });

  it('shows right examples of its schemas', () => {
    expect(wrongExamples(contract)).toEqual({ seen: expect.toSatisfy((seen) => seen > 100), wrong: [] });
    const schemas = { ...contract.components.schemas, Wrong: { type: 'array', items: { type: 'string', example: 7 } } };
    const { wrong } = wrongExamples({ ...contract, components: { ...contract.components, schemas } } as Contract);
    expect(wrong).toEqual(['/components/schemas/Wrong/items']);
  });

  it('has stream tokens open every stream', () => {
    const streams = operationsOf(contract).filter(({ operation }) =>
      Object.values(operation.responses).some((each) => bundle.resolved(each).content?.['text/event-stream']),
    );
    const paths = streams.map(({ method, path, operation }) => {
      const given = [...(contract.paths[path]!.parameters ?? []), ...(operation.parameters ?? [])].map(bundle.resolved);
      expect(method).toBe('GET');
      return path.replaceAll(/\{([^}]+)\}/g, (_, name) =>
        String(examplesOf(given.find((each) => each.name === name)!)[0]),
      );
    });
    const { pattern } = contract.components.schemas['CreateStreamToken']!.properties!['path']!;
    expect(paths).toHaveLength(5);
    expect(paths.filter((path) => !new RegExp(pattern!, 'u').test(path))).toEqual([]);
  });

  it('has the error codes and permissions that its rules know', () => {
    const codes = Object.values(CODES_BY_STATUS).flat();
    expect([...bundle.closed.components.schemas['ErrorCode']!.enum!].sort()).toEqual([...codes].sort());
    const grantable = PERMISSIONS.filter((permission) => !['anyone', 'authenticated', 'operator'].includes(permission));
    const lists = Object.values(bundle.closed.components.schemas).map((schema) => schema.enum ?? []);
    const granted = lists.find((list) => list.includes('audit_log:read')) ?? [];
    expect(granted.filter((permission) => permission !== '*').sort()).toEqual([...grantable].sort());
  });
});
