import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Document, openAnswers, type Schema } from '../open-answers.ts';
import { type Bundle, bundleContract, type Contract, examplesOf, operationsOf } from './bundle.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleContract();
});
afterAll(() => bundle.remove());

const json = (schema: Schema) => ({ content: { 'application/json': { schema } } });

/** A contract in which one schema is asked, and one is answered. */
const contractOf = (asked: Schema, said: Schema, schemas: Record<string, Schema> = {}): Document => ({
  paths: { '/things': { post: { requestBody: json(asked), responses: { 200: json(said) } } } },
  webhooks: {},
  components: { schemas },
});
interface Published {
  requestBody: ReturnType<typeof json>;
  responses: Record<string, ReturnType<typeof json>>;
}
function published(asked: Schema, said: Schema, schemas?: Record<string, Schema>) {
  const { paths, components } = openAnswers(contractOf(asked, said, schemas));
  const { requestBody, responses } = paths['/things']!['post'] as Published;
  const schemaOf = ({ content }: ReturnType<typeof json>) => content['application/json'].schema;
  return { asked: schemaOf(requestBody), said: schemaOf(responses['200']!), schemas: components.schemas };
}

const later = { description: 'What a later version may bring.' };

describe('what the server says', () => {
  it('may have more fields', () => {
    const shape = { type: 'object', additionalProperties: false, properties: { a: { type: 'string' } } };
    const { asked, said } = published(shape, shape);
    expect(asked).toEqual(shape);
    expect(said).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
    expect(published(shape, { type: 'object', additionalProperties: { type: 'string' } }).said).toEqual({
      type: 'object',
      additionalProperties: { type: 'string' },
    });
  });

  it('may have more values, told from those that are known', () => {
    const list = { type: 'string', enum: ['a', 'b'], description: 'A kind.' };
    const { asked, said } = published(list, list);
    expect(asked).toEqual(list);
    const known = { type: 'string', enum: ['a', 'b'] };
    expect(said).toEqual({
      description: 'A kind.',
      anyOf: [known, { type: 'string', ...later, 'x-open': 'value' }],
    });
    const tells = published({}, { ...known, 'x-tells-shapes': true }).said;
    expect(tells.anyOf).toEqual([known, { type: 'string', ...later, 'x-open': 'shape' }]);
  });

  it('may have more shapes', () => {
    const union = { oneOf: [{ type: 'object', required: ['a'] }, { $ref: '#/components/schemas/B' }] };
    const { asked, said } = published(union, union, { B: { type: 'object' } });
    expect(asked).toEqual(union);
    expect(said).toEqual({ anyOf: [...union.oneOf, { type: 'object', ...later, 'x-open': 'shape' }] });
  });

  it('has its own schema if that is not the same when it is asked', () => {
    const both = { $ref: '#/components/schemas/Both' };
    const schemas = {
      Both: { type: 'object', properties: { kind: { $ref: '#/components/schemas/Kind' } } },
      Kind: { type: 'string', enum: ['a'] },
      Asked: { type: 'array', items: both },
      Id: { type: 'string', example: 'a' },
    };
    const found = published({ anyOf: [{ $ref: '#/components/schemas/Asked' }] }, both, schemas);
    expect(Object.keys(found.schemas)).toEqual(['Both', 'BothInput', 'Kind', 'KindInput', 'Asked', 'Id']);
    expect(found.schemas['BothInput']!['properties']).toEqual({ kind: { $ref: '#/components/schemas/KindInput' } });
    expect(found.schemas['KindInput']).toEqual(schemas.Kind);
    expect(found.schemas['Asked']).toEqual({ type: 'array', items: { $ref: '#/components/schemas/BothInput' } });
    expect(() => published(both, both, { ...schemas, BothInput: {} })).toThrow('BothInput');
  });
});

const MORE = 'fromTomorrow';

/** A copy with a field that nobody knows in the objects at these places, or in all. */
function withMore(value: unknown, places?: Set<string>, at = ''): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const grown = Object.entries(value).map(([key, child]) => [key, withMore(child, places, `${at}/${key}`)] as const);
  if (Array.isArray(value)) return grown.map(([, child]) => child);
  return { ...Object.fromEntries(grown), ...((!places || places.has(at)) && { [MORE]: { a: 1 } }) };
}

describe('the published contract', () => {
  /** The examples of what is asked, or of what is answered, with where their schema stands. */
  function bodies(contract: Contract, side: 'asked' | 'said') {
    return operationsOf(contract).flatMap(({ operation }) => {
      const { requestBody, responses } = operation;
      const parts = side === 'said' ? Object.values(responses) : requestBody ? [requestBody] : [];
      return parts.flatMap((part) => {
        const media = bundle.resolved(part as { $ref?: string }) as { content?: Record<string, never> };
        const found = media.content?.['application/json'] as { schema: Schema } | undefined;
        return found ? examplesOf(found).map((example) => ({ schema: found.schema, example })) : [];
      });
    });
  }

  /** The places of faults of a value, where a field is too many; undefined if it has none. */
  function judgeOf(contract: Contract) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    ajv.addSchema({ ...contract, $id: 'contract' });
    const known = new Map<string, ReturnType<typeof ajv.compile>>();
    return (schema: Schema, value: unknown): Set<string> | undefined => {
      const text = JSON.stringify(schema).replaceAll('"#/', '"contract#/');
      const check = known.get(text) ?? ajv.compile(JSON.parse(text));
      known.set(text, check);
      if (check(value)) return undefined;
      const tooMany = check.errors!.filter(({ params }) => params['additionalProperty'] === MORE);
      return new Set(tooMany.map(({ instancePath }) => instancePath));
    };
  }

  it('takes a field that nobody knows wherever the closed one takes none', () => {
    const open = judgeOf(bundle.contract);
    const closed = judgeOf(bundle.closed);
    const said = bodies(bundle.contract, 'said');
    expect(said.length).toBeGreaterThan(500);
    for (const [index, { schema, example }] of bodies(bundle.closed, 'said').entries()) {
      const places = closed(schema, withMore(example));
      expect(places?.size).toBeGreaterThan(0);
      const grown = withMore(example, places);
      expect(closed(schema, grown)).toBeDefined();
      expect(open(said[index]!.schema, grown), JSON.stringify(schema)).toBeUndefined();
    }
  });

  it('asks for what the closed one asks for', () => {
    const names = new Set(Object.keys(bundle.contract.components.schemas));
    const seen: string[] = [];
    const nameOf = (reference: string) => reference.split('/').at(-1)!;
    const plain = (name: string) => (name.endsWith('Input') && names.has(name.slice(0, -5)) ? name.slice(0, -5) : name);
    const text = (value: unknown, note: (name: string) => unknown) =>
      JSON.stringify(value, (key, each: unknown) => {
        if (key !== '$ref' || typeof each !== 'string') return each;
        note(nameOf(each));
        return plain(nameOf(each));
      });
    const published = (value: unknown) => text(value, (name) => seen.includes(name) || seen.push(name));
    const written = (value: unknown) => text(value, () => undefined);
    for (const [index, { operation }] of operationsOf(bundle.contract).entries()) {
      const { operation: source } = operationsOf(bundle.closed)[index]!;
      expect(published([operation.parameters, operation.requestBody])).toBe(
        written([source.parameters, source.requestBody]),
      );
    }
    // `seen` grows meanwhile, by what the schemas refer to.
    for (const name of seen) {
      const own = bundle.contract.components.schemas[name];
      if (own) expect(published(own), name).toBe(written(bundle.closed.components.schemas[plain(name)]));
    }
    expect(seen.length).toBeGreaterThan(100);
  });
});
