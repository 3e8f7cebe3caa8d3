import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const pluginPath = fileURLToPath(new URL('../rules/plugin.js', import.meta.url));
const redocly = fileURLToPath(new URL('../node_modules/.bin/redocly', import.meta.url));

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Edit = (document: ReturnType<typeof rightDocument>) => void;

const errorResponse = (status: number, ...codes: string[]) => ({
  description: `Answers ${status}.`,
  'x-error-codes': codes as string[] | undefined,
  content: {
    'application/json': {
      schema: { type: 'object' } as Json,
      examples: Object.fromEntries(codes.map((code) => [code, { value: { code, error: 'No.' } }])) as Record<
        string,
        Json
      >,
    },
  },
});

/** A small contract without a fault. */
function rightDocument() {
  const errors = {
    '400': errorResponse(400, 'invalid_request'),
    '401': errorResponse(401, 'unauthorized'),
    '403': errorResponse(403, 'forbidden'),
    '404': errorResponse(404, 'not_found'),
    '408': errorResponse(408, 'request_timeout'),
    '412': errorResponse(412, 'changed_meanwhile'),
    '413': errorResponse(413, 'payload_too_large'),
    '415': errorResponse(415, 'unsupported_media_type'),
    '429': errorResponse(429, 'rate_limited'),
    '500': errorResponse(500, 'internal_error'),
    '503': errorResponse(503, 'unavailable'),
  };
  const success = {
    description: 'Done.',
    content: { 'application/json': { schema: { type: 'boolean' } as Json, example: true as Json | undefined } },
  };
  const body = {
    type: 'object',
    additionalProperties: false as boolean,
    properties: {
      name: { description: 'A name.', type: 'string', maxLength: 10 },
      when: { description: 'A time.', type: 'string', format: 'date-time' },
      kind: { description: 'A kind.', enum: ['a'] },
      tags: { description: 'Tags.', type: 'array', maxItems: 3, items: { $ref: '#/components/schemas/Tag' } },
      count: { description: 'A count.', type: 'integer', minimum: 0, maximum: 9 },
      anything: { description: 'Any JSON.', 'x-bounds': 'The body has a cap.' },
      values: { description: 'Values.', type: 'object', maxProperties: 9, additionalProperties: true },
    } as { [key: string]: Json },
  };
  return {
    openapi: '3.1.1',
    info: { title: 'Test', version: '1' },
    paths: {
      '/things/{id}': {
        parameters: [
          {
            name: 'id',
            in: 'path',
            required: true,
            example: 'a' as Json | undefined,
            schema: { type: 'string', maxLength: 9 } as Json,
          },
        ],
        put: {
          operationId: 'putThing' as string | undefined,
          'x-permission': 'calls:write' as string | undefined,
          parameters: [{ name: 'If-Match', in: 'header', example: '"7"', schema: { type: 'string', maxLength: 9 } }],
          requestBody: { content: { 'application/json': { schema: body, example: {} as Json | undefined } } },
          responses: { '200': success, ...errors } as Partial<typeof errors> & { '200'?: typeof success },
        },
      },
    },
    components: {
      schemas: { Tag: { description: 'A tag.', type: 'string', maxLength: 9 } as { [key: string]: Json } },
    },
  };
}

const put = (document: ReturnType<typeof rightDocument>) => document.paths['/things/{id}'].put;
const schema = (document: ReturnType<typeof rightDocument>) =>
  put(document).requestBody.content['application/json'].schema;

const property =
  (value: { [key: string]: Json }): Edit =>
  (document) => {
    schema(document).properties['wrong'] = { description: 'Wrong.', ...value };
  };

/** Each fault, the rule that has to find it, and what it says. */
const FAULTS: [name: string, rule: string, message: string, edit: Edit][] = [
  [
    'no operationId',
    'operation-names',
    'camelCase',
    (d) => {
      put(d).operationId = undefined;
    },
  ],
  [
    'an operationId in snake case',
    'operation-names',
    'camelCase',
    (d) => {
      put(d).operationId = 'put_thing';
    },
  ],
  [
    'an operationId that stands twice',
    'operation-names',
    'twice',
    (d) => Object.assign(d.paths, { '/other/{id}': structuredClone(d.paths['/things/{id}']) }),
  ],
  [
    'no permission',
    'operation-names',
    'x-permission',
    (d) => {
      put(d)['x-permission'] = undefined;
    },
  ],
  [
    'an invented permission',
    'operation-names',
    'calls:own',
    (d) => {
      put(d)['x-permission'] = 'calls:own';
    },
  ],
  [
    'no 429',
    'operation-statuses',
    '429',
    (d) => {
      delete put(d).responses['429'];
    },
  ],
  [
    'no 400 with input',
    'operation-statuses',
    '400',
    (d) => {
      delete put(d).responses['400'];
    },
  ],
  [
    'no 404 with an ID',
    'operation-statuses',
    '404',
    (d) => {
      delete put(d).responses['404'];
    },
  ],
  [
    'no 415 with a body',
    'operation-statuses',
    '415',
    (d) => {
      delete put(d).responses['415'];
    },
  ],
  [
    'no 412 where something is changed',
    'operation-statuses',
    '412',
    (d) => {
      delete put(d).responses['412'];
    },
  ],
  [
    'no If-Match where something is changed',
    'operation-statuses',
    'If-Match',
    (d) => {
      put(d).parameters = [];
    },
  ],
  [
    'no success',
    'operation-statuses',
    'success',
    (d) => {
      delete put(d).responses['200'];
    },
  ],
  [
    'no error codes',
    'error-responses',
    'lists no',
    (d) => {
      put(d).responses['401']!['x-error-codes'] = undefined;
    },
  ],
  [
    'a code of another status',
    'error-responses',
    'not_found is no code of 401',
    (d) => Object.assign(put(d).responses, { '401': errorResponse(401, 'not_found') }),
  ],
  [
    'a code without its example',
    'error-responses',
    'no example of unauthorized',
    (d) => {
      put(d).responses['401']!.content['application/json'].examples = { x: { value: { code: 'forbidden' } } };
    },
  ],
  [
    'an example of an unlisted code',
    'error-responses',
    'shows forbidden',
    (d) => {
      put(d).responses['401']!.content['application/json'].examples['x'] = { value: { code: 'forbidden' } };
    },
  ],
  [
    'an answer without example',
    'examples-present',
    'example',
    (d) => {
      put(d).responses['200']!.content['application/json'].example = undefined;
    },
  ],
  [
    'a body without example',
    'examples-present',
    'example',
    (d) => {
      put(d).requestBody.content['application/json'].example = undefined;
    },
  ],
  [
    'a parameter without example',
    'examples-present',
    'example of id',
    (d) => {
      d.paths['/things/{id}'].parameters[0]!.example = undefined;
    },
  ],
  [
    'a property without description',
    'properties-described',
    'wrong',
    (d) => {
      schema(d).properties['wrong'] = { type: 'boolean' };
    },
  ],
  ['an endless string', 'request-bounds', 'maxLength', property({ type: 'string' })],
  ['an endless array', 'request-bounds', 'maxItems', property({ type: 'array', items: { type: 'boolean' } })],
  ['an array of anything', 'request-bounds', 'needs items', property({ type: 'array', maxItems: 2 })],
  [
    'an endless string in an array',
    'request-bounds',
    'maxLength',
    property({ type: 'array', maxItems: 2, items: { type: 'string' } }),
  ],
  [
    'an endless string in a choice',
    'request-bounds',
    'maxLength',
    property({ oneOf: [{ type: 'boolean' }, { type: 'string' }] }),
  ],
  ['a number without maximum', 'request-bounds', 'maximum', property({ type: 'number', minimum: 0 })],
  ['a number without minimum', 'request-bounds', 'minimum', property({ type: ['integer', 'null'], maximum: 0 })],
  [
    'an open object',
    'request-bounds',
    'additionalProperties',
    (d) => {
      schema(d).additionalProperties = true;
    },
  ],
  [
    'endless keys',
    'request-bounds',
    'maxLength',
    property({ type: 'object', maxProperties: 2, propertyNames: { minLength: 1 } }),
  ],
  ['no type', 'request-bounds', 'needs a type', property({})],
  [
    'a fault behind a reference',
    'request-bounds',
    'maxLength',
    (d) => {
      delete d.components.schemas.Tag['maxLength'];
    },
  ],
  [
    'an endless parameter',
    'request-bounds',
    'maxLength',
    (d) => {
      d.paths['/things/{id}'].parameters[0]!.schema = { type: 'string' };
    },
  ],
  [
    'a keyword that there is not',
    'schema-keywords',
    'keyword from',
    property({ type: 'boolean', 'from its begin.': null }),
  ],
  [
    'such a keyword beside a reference',
    'schema-keywords',
    'keyword from',
    property({ $ref: '#/components/schemas/Tag', 'from its begin.': null }),
  ],
  [
    'an end of a line by its number',
    'schema-keywords',
    'end of a line',
    property({ type: 'string', maxLength: 9, pattern: '^[^\\u2028]$' }),
  ],
];

const fileOf = (index: number) => `document-${index}.json`;

interface Problem {
  ruleId: string;
  message: string;
  location: { source: { ref: string } }[];
}

let folder: string;
let problems: Problem[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-rules-'));
  const rules = [
    'operation-names',
    'operation-statuses',
    'error-responses',
    'examples-present',
    'properties-described',
    'request-bounds',
    'schema-keywords',
  ];
  const config = {
    plugins: [pluginPath],
    rules: Object.fromEntries(rules.map((rule) => [`trunkline/${rule}`, 'error'])),
  };
  await writeFile(join(folder, 'redocly.yaml'), JSON.stringify(config));
  const edits: Edit[] = [() => {}, ...FAULTS.map(([, , , edit]) => edit)];
  const files = edits.map(async (edit, index) => {
    const document = rightDocument();
    edit(document);
    const name = fileOf(index);
    await writeFile(join(folder, name), JSON.stringify(document));
    return name;
  });
  const names = await Promise.all(files);
  const output = await new Promise<string>((resolve) => {
    const args = ['lint', '--config', 'redocly.yaml', '--format', 'json', '--max-problems', '1000', ...names];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    execFile(redocly, args, { cwd: folder, env, maxBuffer: 1e8 }, (_error, stdout) => resolve(stdout));
  });
  problems = JSON.parse(`[${output.trim().replace(/\}\s*\{\s*"totals"/g, '},{"totals"')}]`).flatMap(
    (report: { problems: Problem[] }) => report.problems,
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const problemsOf = (index: number) =>
  problems.filter((problem) => problem.location[0]?.source.ref.endsWith(fileOf(index)));

describe('rules of the contract', () => {
  it('find nothing in a right document', () => expect(problemsOf(0)).toEqual([]));

  it.each(FAULTS.map(([name, rule, message], index) => ({ name, rule, message, index })))(
    'find $name',
    ({ rule, message, index }) => {
      const found = problemsOf(index + 1);
      expect(found.length).toBeGreaterThan(0);
      expect(new Set(found.map((problem) => problem.ruleId))).toEqual(new Set([`trunkline/${rule}`]));
      expect(found.map((problem) => problem.message).join('\n')).toContain(message);
    },
  );
});
