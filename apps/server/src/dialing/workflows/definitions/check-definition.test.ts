import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timeZoneFault } from '../../../audience/contact-lists/reading/time-zone.ts';
import { checkDefinition } from './check-definition.ts';
import type { Definition, Node } from './definition.ts';

const title = 'A node';
const end: Node = { id: 'done', type: 'end', title, status: 'completed' };
const call = { id: 'ring', type: 'call', title, agentId: 'agent_a', to: '{{phone}}', next: 'done' } as const;
const ring: Node = { ...call, fromNumber: '+14155550100' };
const wait: Node = { id: 'later', type: 'wait', title, seconds: 60, next: 'done' };
const http: Node = { id: 'tell', type: 'http', title, method: 'POST', url: 'https://a.example/', next: 'done' };

const whole = (...nodes: Node[]): Definition => ({ name: 'W', startNodeId: nodes[0]!.id, nodes });
const faultsOf = (definition: Definition) =>
  checkDefinition(definition).map(({ path, message, nodeId }) => `${nodeId ?? ''} ${path} ${message}`);
/** The faults of one node before an end, but for its place. */
const faultsIn = (node: object) =>
  checkDefinition(whole(node as Node, end)).map(
    ({ path, message }) => `${path.replace('/body/nodes/0/', '')}: ${message}`,
  );

test('a whole definition has no fault', () => {
  expect(faultsOf(whole(ring, end))).toEqual([]);
  const loop: Node[] = [{ ...ring, outcomes: { no_answer: 'later' } } as Node, { ...wait, next: 'ring' } as Node, end];
  expect(faultsOf(whole(...loop))).toEqual([]);
});

test('every fault of the graph is told, by node', () => {
  const definition: Definition = {
    name: 'W',
    startNodeId: 'ring',
    requiredContext: ['first', 'prototype'],
    nodes: [
      { ...ring, outcomes: { busy: 'nowhere' }, next: 'spin' } as Node,
      { id: 'spin', type: 'set', title, values: { a: 1 }, next: 'spin-2' },
      { id: 'spin-2', type: 'set', title, values: { b: '{{a}} {{c}}' }, next: 'spin' },
      { id: 'ring', type: 'end', title, status: 'failed' },
      { ...http, next: 'gone', onError: 'gone-too' } as Node,
      {
        id: 'pick',
        type: 'branch',
        title,
        cases: [{ when: { left: '{{a}}', operator: 'exists' }, next: 'x' }],
        next: 'y',
      },
      end,
    ],
  };
  expect(faultsOf(definition)).toEqual([
    ' /body/requiredContext/1 prototype can not be a key of the context.',
    'ring /body/nodes/0/outcomes/busy There is no node nowhere.',
    'ring /body/nodes/0/to No path to this node sets phone. Set it before, or add it to requiredContext.',
    'spin /body/nodes/1 No path leads from this node to an end.',
    'spin /body/nodes/1 A cycle needs a wait or a call in it; this one has none: spin, spin-2.',
    'spin-2 /body/nodes/2 No path leads from this node to an end.',
    'spin-2 /body/nodes/2/values/b No path to this node sets c. Set it before, or add it to requiredContext.',
    'ring /body/nodes/3/id Another node is named ring, too.',
    'tell /body/nodes/4/next There is no node gone.',
    'tell /body/nodes/4/onError There is no node gone-too.',
    'tell /body/nodes/4 No path leads to this node.',
    'pick /body/nodes/5/cases/0/next There is no node x.',
    'pick /body/nodes/5/next There is no node y.',
    'pick /body/nodes/5 No path leads to this node.',
    'done /body/nodes/6 No path leads to this node.',
  ]);
  expect(faultsOf({ ...whole(wait), startNodeId: 'begin' })).toEqual([
    ' /body/startNodeId There is no node begin.',
    ' /body/nodes There is no end node.',
    'later /body/nodes/0/next There is no node done.',
  ]);
});

const condition = (when: object) => ({ id: 'b', type: 'branch', title, cases: [{ when, next: 'done' }], next: 'done' });

test.each<[object, string[]]>([
  [call, ['fromNumber: Give exactly one of fromNumber and numberPoolId.']],
  [{ ...ring, numberPoolId: 'pool_x' }, ['fromNumber: Give exactly one of fromNumber and numberPoolId.']],
  [{ ...call, numberPoolId: 'pool_x', to: '+14155550142' }, []],
  [{ ...ring, to: '4155550142' }, ['to: Give a phone number in E.164 form, such as +14155550100, or a template.']],
  ...['Mars/Olympus', '+02:00', '{{timezone}}', 'Europe/Berlin ', 'CET/Berlin'].map((timezone): [object, string[]] => [
    { ...ring, timezone },
    ['timezone: There is no such time zone. Give an IANA name such as Europe/Berlin.'],
  ]),
  ...['JST', 'PST', 'EST'].map((timezone): [object, string[]] => [
    { ...ring, timezone },
    [`timezone: ${timeZoneFault(timezone)}`],
  ]),
  [{ ...ring, timezone: 'europe/berlin' }, []],
  [
    { id: 'l', type: 'wait', title, until: { time: 570, of: 'PST' }, next: 'done' },
    [`until/of: ${timeZoneFault('PST')}`],
  ],
  [{ id: 'l', type: 'wait', title, until: { time: 570, of: 'america/new_york' }, next: 'done' }, []],
  [{ id: 'l', type: 'wait', title, until: { time: 570, of: '+493012345678' }, next: 'done' }, []],
  [
    { id: 'l', type: 'wait', title, until: { time: 570, of: '030123' }, next: 'done' },
    ['until/of: There is no such phone number. Give one in E.164 form, such as +14155550100, or an IANA time zone.'],
  ],
  [{ ...wait, until: { time: 570, of: '{{zone}}' } }, ['seconds: Give exactly one of seconds and until.']],
  [
    condition({ left: '{{a | default: "x"}}', operator: 'exists' }),
    ['cases/0/when/left: exists needs one template and no filters, such as {{key}}.'],
  ],
  [
    condition({ left: '{{a}}', operator: 'in', right: '{{list | default: "x"}}' }),
    ['cases/0/when/right: in needs an array, or a template that gives one.'],
  ],
  [{ ...http, url: '{{crm_url | default: "https://a.example/{}"}}' }, []],
  [{ ...http, url: 'https://{{host | default: "{}"}}/{{id | default: "}}"}}' }, []],
  [{ ...http, body: { many: Array(200).fill('{{a | default: "x"}}'), plain: ['{{a}}'.repeat(300)] } }, []],
  [
    { ...http, body: { many: Array(201).fill('{{a | default: "x"}}'), and: ['{{a | default: "x"}}', '{{a | b}}'] } },
    [
      'body/many/200: A node takes at most 200 templates with filters.',
      'body/and/1: {{a | b}} is no template. There is no filter b. There are default, plus, minus, in and format.',
    ],
  ],
  [{ ...wait, until: '{{at}}' }, ['seconds: Give exactly one of seconds and until.']],
  [
    { ...wait, seconds: undefined, until: '2026-02-30T00:00:00Z' },
    [
      'seconds: Give exactly one of seconds and until.',
      'until: Give a time such as 2026-11-20T09:30:00Z, or a template.',
    ],
  ],
  [{ id: 'l', type: 'wait', title, until: '2026-11-20T09:30:00Z', next: 'done' }, []],
  [condition({ left: '{{a}}', operator: 'equals' }), ['cases/0/when/right: equals needs a right side.']],
  [condition({ left: '{{a}}', operator: 'exists', right: 1 }), ['cases/0/when/right: exists takes no right side.']],
  [
    condition({ left: 'a', operator: 'not_exists' }),
    ['cases/0/when/left: not_exists needs one template and nothing else, such as {{key}}.'],
  ],
  [
    condition({ left: '{{a}}', operator: 'in', right: 'x' }),
    ['cases/0/when/right: in needs an array, or a template that gives one.'],
  ],
  [condition({ left: '{{a}}', operator: 'in', right: '{{list}}' }), []],
  [condition({ left: '{{a}}', operator: 'equals', right: ['x'] }), ['cases/0/when/right: Only in takes an array.']],
  [
    { ...http, url: 'ftp://a.example/' },
    ['url: Give an http:// or https:// URL, or one template that gives the whole of it.'],
  ],
  [
    { ...http, url: '{{base}}/calls' },
    ['url: Give an http:// or https:// URL, or one template that gives the whole of it.'],
  ],
  [{ ...http, url: 'https://me:secret@a.example/' }, ['url: Put credentials into a header, not into the URL.']],
  [{ ...http, url: '{{url}}' }, []],
  [{ ...http, url: 'https://{{tenant}}.a.example:8443/{{id}}?q={{id}}' }, []],
  [
    { ...http, headers: { Host: 'b.example', 'X-A': 'a\nb' } },
    ['headers/Host: The server sets this header.', 'headers/X-A: A header takes Latin letters, in one line.'],
  ],
  ...[
    '{{url}}',
    'https://{{tenant}}.a.example/',
    'https://a.example{{path}}',
    'https:/{{host}}/',
    'https:/\t/{{host}}/',
    'https:\\\\{{host}}/',
  ].map((url): [Node, string[]] => [
    { ...http, url, headers: { Authorization: 'Bearer 123', 'X-Key': '{{key}}', Accept: 'application/json' } },
    [
      'headers/Authorization: What is written out here would go to whatever address a run names: write the scheme, host and port of the url out, or take this value from a template too.',
    ],
  ]),
  [{ ...http, url: 'https://a.example/{{id}}', headers: { Authorization: 'Bearer 123' } }, []],
  [{ ...http, url: 'https://a.example?{{id}}', headers: { Authorization: 'Bearer 123' } }, []],
  [{ ...http, method: 'GET', body: 'x' }, ['body: A GET request has no body.']],
  [{ ...http, saveAs: '__proto__' }, ['saveAs: __proto__ can not be a key of the context.']],
  [
    { ...http, body: { 'a/b': ['{{first name}}'], c: '{{a.constructor}}', d: '{{a..b}}' } },
    [
      'body/a~1b/0: {{first name}} is no template: write {{key}} or {{key.part}}, without blanks in the name.',
      'body/c: {{a.constructor}} can never have a value.',
      'body/d: {{a..b}} can never have a value.',
    ],
  ],
])('%j', (node, faults) => {
  expect(faultsIn(node)).toEqual(faults);
});

test('a variable is known where any path sets it', () => {
  const pick: Node = {
    id: 'pick',
    type: 'branch',
    title,
    cases: [{ when: { left: '{{vip}}', operator: 'exists' }, next: 'mark' }],
    next: 'use',
  };
  const mark: Node = { id: 'mark', type: 'set', title, values: { vip: true }, next: 'use' };
  const use: Node = {
    id: 'use',
    type: 'set',
    title,
    values: { x: '{{vip}} {{phone.a.b}} {{call.outcome}}' },
    next: 'ring',
  };
  const nodes = [pick, mark, use, { ...ring, outcomes: { busy: 'pick' } } as Node, end];
  expect(faultsOf({ ...whole(...nodes), requiredContext: ['phone'] })).toEqual([]);
  expect(faultsOf({ ...whole(...nodes), requiredContext: [] })).toHaveLength(2);
  expect(faultsOf(whole(...nodes))).toEqual([]);
});

const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
const target = fc.constantFrom(...ids, 'gone');
const key = fc.constantFrom('k', 'l', 'm');
const text = fc.option(key).map((name) => (name === null ? 'text' : `{{${name}}}`));
const nodeOf = (id: string): fc.Arbitrary<Node> =>
  fc.oneof(
    fc.constant({ id, type: 'end' as const, title, status: 'completed' as const }),
    fc.record({
      id: fc.constant(id),
      type: fc.constant('wait' as const),
      title: fc.constant(title),
      seconds: fc.constant(1),
      next: target,
    }),
    fc.record({ busy: target, next: target }).map(({ busy, next }) => ({
      ...call,
      id,
      to: '+14155550142',
      fromNumber: '+14155550100',
      outcomes: { busy },
      next,
    })),
    fc.record({ set: key, text, next: target }).map(({ set, text: value, next }) => ({
      id,
      type: 'set' as const,
      title,
      values: { [set]: value },
      next,
    })),
    fc.record({ saveAs: key, text, next: target, onError: target }).map(({ text: body, ...rest }) => ({
      ...http,
      id,
      body,
      ...rest,
    })),
    fc.record({ text, next: target, other: target }).map(({ text: left, next, other }) => ({
      id,
      type: 'branch' as const,
      title,
      cases: [{ when: { left, operator: 'equals' as const, right: 1 }, next: other }],
      next,
    })),
  );
const definitions: fc.Arbitrary<Definition> = fc
  .integer({ min: 1, max: ids.length })
  .chain((count) => fc.tuple(...ids.slice(0, count).map(nodeOf)))
  .chain((nodes) =>
    fc.record({
      name: fc.constant('W'),
      startNodeId: fc.constantFrom(...ids.slice(0, 2)),
      requiredContext: fc.uniqueArray(key),
      nodes: fc.constant(nodes),
    }),
  );

/** What is wrong, by the definition of each fault and Warshall's algorithm. */
function oracle({ nodes, startNodeId, requiredContext = [] }: Definition): Set<string> {
  const found = new Set<string>();
  const known = new Map(nodes.map((node) => [node.id, node]));
  const targets = (node: Node): string[] =>
    [...JSON.stringify(node).matchAll(/"(?:next|onError|busy)":"(\w+)"/g)].map(([, to]) => to!);
  /** By at least one step, over nodes that `through` lets by. */
  const paths = (through: (node: Node) => boolean) => {
    const reach = new Set<string>();
    for (const node of nodes.filter(through)) for (const to of targets(node)) reach.add(`${node.id}>${to}`);
    for (const mid of nodes.filter(through))
      for (const one of nodes)
        for (const two of [...ids, 'gone'])
          if (reach.has(`${one.id}>${mid.id}`) && reach.has(`${mid.id}>${two}`)) reach.add(`${one.id}>${two}`);
    return (from: string, to: string) => reach.has(`${from}>${to}`);
  };
  const leads = paths(() => true);
  const busy = paths(({ type }) => type !== 'wait' && type !== 'call');
  const started = (id: string) => id === startNodeId || leads(startNodeId, id);
  if (!known.has(startNodeId)) found.add('start');
  if (!nodes.some(({ type }) => type === 'end')) found.add('no end');
  for (const node of nodes) {
    const { id } = node;
    if (targets(node).some((to) => !known.has(to))) found.add(`target ${id}`);
    if (known.has(startNodeId) && !started(id)) found.add(`unreachable ${id}`);
    const ends = [...ids, 'gone'].filter((other) => !known.has(other) || known.get(other)!.type === 'end');
    if (!found.has('no end') && !ends.some((other) => other === id || leads(id, other))) found.add(`endless ${id}`);
    if (busy(id, id)) found.add('cycle');
    const used = /\{\{(\w)\}\}/.exec(JSON.stringify(node))?.[1];
    if (!used || !known.has(startNodeId) || !started(id) || requiredContext.includes(used)) continue;
    const setters = nodes.filter(
      (other) =>
        Object.keys('values' in other ? other.values : {}).includes(used) ||
        ('saveAs' in other && other.saveAs === used),
    );
    if (!setters.some((other) => started(other.id) && leads(other.id, id))) found.add(`unset ${id}`);
  }
  return found;
}

const kinds: [RegExp, (id: string) => string][] = [
  [/\/startNodeId/, () => 'start'],
  [/There is no end node/, () => 'no end'],
  [/There is no node/, (id) => `target ${id}`],
  [/No path leads to this/, (id) => `unreachable ${id}`],
  [/No path leads from this/, (id) => `endless ${id}`],
  [/A cycle needs/, () => 'cycle'],
  [/No path to this node sets/, (id) => `unset ${id}`],
];

test('the faults of random definitions are those that an oracle finds', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(definitions, (definition) => {
      const found = checkDefinition(definition).map(({ path, message, nodeId = '' }) => {
        const kind = kinds.find(([pattern]) => pattern.test(`${path} ${message}`));
        return kind ? kind[1](nodeId) : message;
      });
      const expected = oracle(definition);
      for (const each of expected.size === 0 ? ['none'] : expected) seen.add(each.split(' ')[0]!);
      expect([...new Set(found)].sort()).toEqual([...expected].sort());
    }),
    { numRuns: 2000 },
  );
  expect([...seen].sort()).toEqual(['cycle', 'endless', 'no', 'none', 'start', 'target', 'unreachable', 'unset']);
});
