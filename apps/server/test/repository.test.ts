import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from 'vitest';
import { describeSchema } from '../migrations/dump-schema.ts';
import { takeOut } from '../migrations/leaving.ts';
import { rowTypes } from '../migrations/row-types.ts';
import { listTransitions } from '../src/audience/contact-lists/list.ts';
import { uploadTransitions } from '../src/audience/contact-lists/upload.ts';
import { batchTransitions, campaignStatuses } from '../src/dialing/batches/batch.ts';
import { callTransitions } from '../src/dialing/calls/call.ts';
import { dtmfTransitions } from '../src/dialing/calls/dtmf.ts';
import { recordingTransitions } from '../src/dialing/calls/recordings/recording.ts';
import { campaignTransitions } from '../src/dialing/campaigns/campaign.ts';
import { transferTransitions } from '../src/dialing/transfers/transfer.ts';
import { runTransitions, stepTransitions } from '../src/dialing/workflows/runs/run.ts';
import { migrations } from '../src/foundation/database/migrate.ts';
import { compareVersions, newestOf, serverVersion } from '../src/foundation/database/versions.ts';
import { phoneNumberTransitions } from '../src/lines/phone-numbers/phone-number.ts';
import { deliveryTransitions } from '../src/platform/webhooks/delivery.ts';
import { webhookTransitions } from '../src/platform/webhooks/webhook.ts';
import { erasureTransitions } from '../src/records/erasures/erasure.ts';
import { exportTransitions } from '../src/records/exports/export.ts';
import { documentTransitions } from '../src/voices/knowledge-bases/document.ts';
import { freshDatabase } from './database.ts';
import { lostBy } from './repository/schema-rules.ts';
import * as rules from './repository/source-rules.ts';
import {
  allowedValues,
  type Machine,
  movesNotMade,
  movesOf,
  type Transitions,
  unknownStates,
  wrongMoves,
} from './repository/state-rules.ts';

const home = path.join(import.meta.dirname, '..');
const dump = readFileSync(path.join(home, 'migrations/schema.txt'), 'utf8');
const contract = createRequire(import.meta.url)('@trunkline/openapi/closed.json') as {
  components: { schemas: Record<string, { enum?: string[]; 'x-transitions'?: Transitions }> };
};

const filesBelow = (folder: string): rules.SourceFile[] =>
  readdirSync(path.join(home, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
    .map((name) => ({
      path: name.replaceAll(path.sep, '/'),
      text: readFileSync(path.join(home, folder, name), 'utf8'),
    }));

const sources = filesBelow('src');
const statements = [...sources.filter((file) => !file.path.endsWith('.test.ts')), ...filesBelow('migrations')];

const documents = new Map(
  ['', 'docs/'].flatMap((folder) =>
    readdirSync(path.join(home, '../..', folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => [name, readFileSync(path.join(home, '../..', folder, name), 'utf8')] as const)
      .flatMap(([name, text]) => [[name, text] as const, [`${folder}${name}`, text] as const]),
  ),
);

/** Each rule, the files that it holds for, and a file that breaks it. */
const held: [string, rules.Rule, rules.SourceFile[], rules.SourceFile][] = [
  [
    'imports run downwards',
    rules.importsRunDownwards,
    sources,
    { path: 'dialing/calls/call.ts', text: "import { pace } from '../campaigns/pace.ts';" },
  ],
  [
    'imports run to no wing above',
    rules.wingsRunDownwards,
    sources,
    { path: 'voices/agents/agent.ts', text: "import type { Call } from '../../dialing/calls/call.ts';" },
  ],
  [
    'an import of values from http/handler.ts runs upwards',
    rules.importsRunDownwards,
    sources,
    { path: 'dialing/calls/operations.ts', text: "import {\n  page,\n} from '../../foundation/http/handler.ts';" },
  ],
  [
    'everything stands in a layer',
    rules.importsRunDownwards,
    sources,
    { path: 'elsewhere/call.ts', text: 'export const a = 1;' },
  ],
  [
    'only config.ts reads the environment',
    rules.onlyConfigReadsTheEnvironment,
    sources,
    { path: 'dialing/calls/call.ts', text: "const port = process.env['PORT'];" },
  ],
  [
    'only compose-adapters.ts imports adapters',
    rules.onlyComposeImportsAdapters,
    sources,
    {
      path: 'dialing/calls/place-calls.ts',
      text: "import { createSimulator } from '../../lines/telephony/simulator/simulator.ts';",
    },
  ],
  [
    'what connects to the database follows its primary',
    rules.connectionsFollowThePrimary,
    sources,
    { path: 'dialing/calls/call.ts', text: 'const pool = new pg.Pool({ ...connection, max: 1 });' },
  ],
  [
    'SQL asks the database for no business time',
    rules.noDatabaseTime,
    statements,
    { path: 'dialing/calls/store.ts', text: 'sql`update calls set ended_at = now()`' },
  ],
  [
    'chance is made of a key',
    rules.noUnseededChance,
    sources,
    { path: 'dialing/calls/store.ts', text: 'const at = later(Math.random() * 1000);' },
  ],
  [
    'no carrier is told by its name, and no owner of calls by what is null',
    rules.nothingIsToldByNames,
    sources,
    { path: 'dialing/calls/store.ts', text: "const held = row.provider !== 'sip';" },
  ],
  [
    'no file is over 400 lines',
    rules.noLongFile,
    sources,
    { path: 'dialing/calls/store.ts', text: 'export {};\n'.repeat(401) },
  ],
  [
    'no function is over 100 lines',
    rules.noLongFunction,
    sources,
    { path: 'dialing/calls/store.ts', text: `const a = {\n  b: async () => {${'\n'.repeat(100)}  },\n};` },
  ],
  [
    'comments cite documents that there are',
    rules.citationsLead(documents),
    [
      ...sources,
      ...filesBelow('migrations'),
      ...filesBelow('test').filter((file) => file.path !== 'repository.test.ts'),
    ],
    { path: 'dialing/calls/store.ts', text: '/** Rows are locked\n * in this order (nowhere.md,\n * "Locks"). */' },
  ],
  [
    'comments cite sections that there are',
    rules.citationsLead(documents),
    sources,
    {
      path: 'dialing/calls/store.ts',
      text: '  -- By workspace (dialing.md,\n  -- "Nothing").\n/** dialing.md, "Locks" */',
    },
  ],
  [
    'calls name no table of their owners',
    rules.callsKnowNoOwners,
    sources,
    { path: 'dialing/calls/store.ts', text: 'sql`select from campaigns`' },
  ],
  [
    'only the switchboard holds calls',
    rules.onlyTheSwitchboardHoldsCalls,
    sources,
    { path: 'dialing/calls/end-call.ts', text: 'const held = new Map<string, HeldCall>();' },
  ],
  ['no name says nothing', rules.noVagueName, sources, { path: 'dialing/calls/utils/format.ts', text: '' }],
  [
    'only the import names the table without row-level security',
    rules.onlyTheImportWritesEntries,
    sources,
    { path: 'audience/contact-lists/store.ts', text: 'sql`select from contact_list_entries_all`' },
  ],
];

test.each(held)('%s', (_name, rule, files, breach) => {
  expect(rule(files)).toEqual([]);
  expect(rule([breach])).toHaveLength(1);
});

test('parts of one layer import each other in no circle', () => {
  const circle = [
    { path: 'platform/jobs/jobs.ts', text: "import type { Row } from '../journal/record.ts';" },
    { path: 'platform/journal/record.ts', text: "export { a } from '../jobs/jobs.ts';" },
  ];
  expect(rules.importsRunDownwards(circle)).toEqual([
    'jobs imports journal imports jobs: a circle',
    'journal imports jobs imports journal: a circle',
  ]);
  const adapter = { path: 'lines/telephony/sip/call.ts', text: "import { a } from '../../media/media.ts';" };
  const between = { path: 'lines/media/media.ts', text: "import type { A } from '../telephony/call-gateway.ts';" };
  expect(rules.importsRunDownwards([adapter, between])).toEqual([]);
  const port = { ...adapter, path: 'lines/telephony/call-gateway.ts', text: "import { a } from '../media/media.ts';" };
  expect(rules.importsRunDownwards([port, between])).toHaveLength(2);
});

test('no files import each other in a circle, not even within a folder', () => {
  expect(rules.noCircleOfFiles(sources)).toEqual([]);
  const circle = [
    { path: 'dialing/calls/call.ts', text: "import type { Row } from './rows/row.ts';" },
    { path: 'dialing/calls/rows/row.ts', text: "import { a } from './shape.ts';" },
    { path: 'dialing/calls/rows/shape.ts', text: "import { a } from '../call.ts';" },
    { path: 'dialing/calls/end.ts', text: "import { a } from './call.ts';\nimport { a } from './rows/row.ts';" },
  ];
  expect(rules.noCircleOfFiles(circle)).toEqual([
    'dialing/calls/call.ts imports dialing/calls/rows/row.ts imports dialing/calls/rows/shape.ts imports dialing/calls/call.ts: a circle',
  ]);
  expect(
    rules.noCircleOfFiles([{ path: 'dialing/calls/call.ts', text: "import type { A } from './call.ts';" }]),
  ).toHaveLength(1);
});

const schemaOf = (name: string) => contract.components.schemas[name]!;

/** Every column that holds a state, its name in the contract, its state table, and the function that moves its rows. */
const machines: [table: string, schema: string, tables: Readonly<Record<string, Transitions>>, mover?: string][] = [
  ['campaigns', 'CampaignStatus', { campaignTransitions }],
  ['campaign_contacts', 'CampaignContactState', {}],
  ['calls', 'CallStatus', { callTransitions }],
  ['contact_lists', 'ContactListStatus', { listTransitions }],
  ['contact_list_uploads', 'ContactListUploadStatus', { uploadTransitions }, 'moveUpload'],
  ['exports', 'ExportStatus', { exportTransitions }],
  ['erasures', 'ErasureStatus', { erasureTransitions }],
  ['phone_numbers', 'PhoneNumberStatus', { phoneNumberTransitions }, 'moveNumber'],
  ['webhooks', 'WebhookStatus', { webhookTransitions }],
  ['call_recordings', 'CallRecordingStatus', { recordingTransitions }],
  ['call_dtmf', 'CallDtmfStatus', { dtmfTransitions }],
  ['call_transfers', 'CallTransferStatus', { transferTransitions }],
  ['webhook_deliveries', 'WebhookDeliveryStatus', { deliveryTransitions }],
  ['workflow_runs', 'WorkflowRunStatus', { runTransitions }],
  ['workflow_run_steps', 'WorkflowStepStatus', { stepTransitions }],
  ['knowledge_base_documents', 'KnowledgeBaseDocumentStatus', { documentTransitions }],
];

const stateMachines: Machine[] = machines.map(([table, schema, tables, mover]) => {
  const [name] = Object.keys(tables);
  return {
    table,
    column: table === 'campaign_contacts' ? 'state' : 'status',
    transitions: name ? tables[name]! : schemaOf(schema)['x-transitions']!,
    ...(name && { name }),
    ...(mover && { mover }),
  };
});

/** Their rows are moved to states that are worked out, as sets, so that no statement names each move. */
const movedBySets = ['campaign_contacts', 'workflow_runs', 'workflow_run_steps'];

test.each(machines)('%s take the states that the contract shows', (table, schema) => {
  const { enum: states, 'x-transitions': shown } = schemaOf(schema);
  const { column, transitions } = stateMachines.find((each) => each.table === table)!;
  expect(allowedValues(dump, table, column)).toEqual(states);
  expect(Object.keys(shown!)).toEqual(states);
  expect(sorted(transitions)).toEqual(sorted(shown!));
});

test.each(stateMachines.filter(({ table }) => !movedBySets.includes(table)))(
  'every move of $table is made',
  (machine) => {
    expect(movesNotMade(sources, machine)).toEqual([]);
    expect(movesNotMade([], machine)).not.toEqual([]);
  },
);

test('a move is made by a statement that names it, or by a mover', () => {
  const transitions = { open: ['shut', 'lost'], shut: ['open', 'lost'], lost: [] };
  const machine: Machine = {
    table: 'doors',
    column: 'status',
    transitions,
    name: 'doorTransitions',
    mover: 'moveDoor',
  };
  const notMade = (text: string) => movesNotMade([{ path: 'a.ts', text }], machine);
  const [opened, lostOpen, lostShut] = ['shut to open', 'open to lost', 'shut to lost'];
  const shut = "sql`update doors set status = 'shut' where status = 'open'`;";
  const all = (...moves: (string | undefined)[]) => moves.map((move) => `nothing moves doors from ${move}`);
  expect(notMade(shut)).toEqual(all(lostOpen, opened, lostShut));
  expect(notMade(`${shut} from(doorTransitions, 'lost', 'open')`)).toEqual(all(opened, lostShut));
  expect(notMade(`${shut} from(doorTransitions, 'lost'); moveDoor(tx, id, 'open', 1)`)).toEqual([]);
  expect(notMade(`${shut} from(roomTransitions, 'lost'); moveRoom(tx, id, 'open', 1)`)).toHaveLength(3);
});

test('a batch moves as the contract shows, and its campaign can', () => {
  expect(sorted(batchTransitions)).toEqual(sorted(schemaOf('BatchStatus')['x-transitions']!));
  for (const [from, to] of Object.entries(batchTransitions).flatMap(([from, tos]) => tos.map((to) => [from, to]))) {
    const reached = campaignStatuses[from as 'running'].flatMap((status) => campaignTransitions[status]);
    expect(reached, `${from} to ${to}`).toEqual(
      expect.arrayContaining([expect.toBeOneOf([...campaignStatuses[to as 'running']])]),
    );
  }
});

const sorted = (transitions: Transitions) =>
  Object.fromEntries(Object.entries(transitions).map(([from, to]) => [from, [...to].sort()]));

test('SQL moves a row only as its state table allows, and names where from', () => {
  const faults = (files: rules.SourceFile[]) =>
    wrongMoves(
      files.flatMap((file) => movesOf(file, stateMachines)),
      stateMachines,
    );
  expect(statements.flatMap((file) => movesOf(file, stateMachines)).length).toBeGreaterThan(20);
  expect(faults(statements)).toEqual([]);
  const wrong = "sql`update calls c set status = 'dialing', a = 1 where c.status in ('queued', 'ringing')`";
  const blind = "sql`update campaigns\n set status = 'paused' where id = 1`";
  const pauseFrom = (states: string) => `sql\`update campaigns set status = 'paused' where status in \${${states}}\``;
  const strange = pauseFrom("from(campaignTransitions, 'running')");
  const narrow = pauseFrom("from(campaignTransitions, 'paused', 'draft')");
  expect(faults([{ path: 'a.ts', text: wrong + blind + strange + narrow }])).toEqual([
    'a.ts moves calls from ringing to dialing',
    'a.ts moves campaigns to paused from any state',
    'a.ts moves campaigns to paused from any state',
    'a.ts moves campaigns from draft to paused',
  ]);
  const right = pauseFrom("from(campaignTransitions, 'paused')");
  expect(faults([{ path: 'a.ts', text: right }])).toEqual([]);
});

test('SQL compares with known states only', () => {
  const known = new Set(stateMachines.flatMap(({ table, column }) => allowedValues(dump, table, column)));
  expect(statements.flatMap((file) => unknownStates(file, known))).toEqual([]);
  const wrong = { path: 'a.ts', text: "sql`select from calls where status in ('queued', 'dialling')`" };
  expect(unknownStates(wrong, known)).toEqual(['a.ts compares with the state dialling']);
});

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(path.join(home, '../../docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Links of a page, by its path from the repository's folder, that lead to no file. */
function deadLinks(page: string, text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)]
    .map(([, target]) => path.join(home, '../..', path.dirname(page), target!))
    .filter((target) => !existsSync(target))
    .map((target) => `${page} links to ${target}`);
}

test('links of the pages lead somewhere', () => {
  expect(pages.flatMap((page) => deadLinks(page, readFileSync(path.join(home, '../..', page), 'utf8')))).toEqual([]);
  expect(deadLinks('docs/a.md', '[here](../README.md#try-it) and [there](nowhere.md)')).toHaveLength(1);
});

test('the rows’ types are those of the dump; `npm run generate` writes them', () => {
  expect(rowTypes(dump)).toBe(readFileSync(path.join(home, 'src/foundation/database/generated/schema.ts'), 'utf8'));
  expect(() => rowTypes('table extra\n  data jsonb not null')).toThrow('extra.data is jsonb');
  expect(() => rowTypes(dump.replace('  result jsonb\n', ''))).toThrow('no column calls.result');
});

test('the dump of the schema is that of the migrations; `npm run generate` writes it', async () => {
  const { connection, drop } = await freshDatabase();
  try {
    expect(await describeSchema(connection)).toBe(dump);
  } finally {
    await drop();
  }
});

test('servers of the former release go on beside those of the coming one, unless a migration says that they can not', () => {
  const folder = path.join(home, 'migrations/released');
  const released = existsSync(folder) ? readdirSync(folder).map((name) => path.parse(name).name) : [];
  if (released.length === 0) return expect(serverVersion(migrations)).toBe('0.2.0');
  const former = newestOf(released);
  const needs = newestOf(Object.values(migrations).map(({ oldestServer }) => oldestServer));
  if (compareVersions(needs, former) > 0) return expect(needs).toBe(serverVersion(migrations));
  expect(lostBy(readFileSync(path.join(folder, `${former}.txt`), 'utf8'), dump)).toEqual([]);
});

test('what leaves is taken out, and must not be asked for in the rows that are written without it', async () => {
  const { connection, drop } = await freshDatabase();
  try {
    await takeOut(connection, ['test_calls']);
    await expect(takeOut(connection, ['agents.recording'])).rejects.toThrow('give it a default before it leaves');
    await takeOut(connection, ['agents.max_call_seconds', 'campaigns.tags']);
    const left = lostBy(dump, await describeSchema(connection));
    expect(left.toSorted()).toEqual([
      'agents: max_call_seconds is gone',
      'campaigns: tags is gone',
      'test_calls: is gone',
    ]);
  } finally {
    await drop();
  }
});

test('every test that the page of security names is there', () => {
  const named = [...documents.get('docs/security.md')!.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(
    ([, name]) => name!,
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !existsSync(path.join(home, name)))).toEqual([]);
});
