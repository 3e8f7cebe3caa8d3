import path from 'node:path';
import { parseAst } from 'vitest/node';

/** A file of the server's sources: its path from `src`, with `/`, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

/** Looks for breaches of one rule of the house; returns a line for each. */
export type Rule = (files: readonly SourceFile[]) => string[];

/** Imports run downwards through these wings. */
const wings = ['commands', 'records', 'dialing', 'audience', 'voices', 'lines', 'platform', 'foundation'];

/** And through these, within a wing too; what shares a line may import each other, but not in a circle. */
const layers = [
  ['values', 'observe', 'config-values', 'config'],
  [
    'database',
    'objects',
    'telephony',
    'media',
    'conversation',
    'outbound-http',
    'tickets',
    'journal',
    'jobs',
    'installation',
    'person-data',
  ],
  ['trunks', 'providers', 'members'],
  [
    'api-keys',
    'workspace',
    'do-not-call',
    'phone-numbers',
    'contact-lists',
    'knowledge-bases',
    'sounds',
    'speech',
    'agents',
    'webhooks',
  ],
  ['number-pools', 'talks', 'sign-in'],
  ['calls'],
  ['campaigns', 'workflows', 'test-calls', 'transfers'],
  ['batches', 'call-intents'],
  ['exports', 'call-statistics', 'people', 'search'],
  ['erasures'],
  ['http', 'retention', 'metrics', 'operator'],
  [
    ...[
      'compose',
      'compose-adapters',
      'compose-agents',
      'compose-engine',
      'compose-features',
      'compose-operations',
      'compose-owners',
    ],
    ...['compose-services', 'confirm-restore', 'move-number', 'rotate-key', 'trunk-grants'],
    'workspace-named',
  ],
  ['server', 'doctor'],
  ['announce'],
  ['main'],
  ['bin'],
];

const isTest = (file: SourceFile) => file.path.endsWith('.test.ts');

const wingOf = (file: string) => wings.indexOf(file.split('/')[0]!);

/** What follows the wing in a path: a folder, or a file without its ending. */
const partOf = (file: string) => file.split('/')[wingOf(file) === -1 ? 0 : 1]!.replace(/\.ts$/, '');

/** An adapter is a part of its own, above its port: what is between the two may import the one, and be imported by the other. */
const roomOf = (file: string) => (/^lines\/telephony\/(\w+)\//.exec(file) ?? [])[0] ?? partOf(file);

const layerOf = (file: string) => layers.findIndex((parts) => parts.includes(partOf(file)));

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

/** The imports, re-exports and dynamic imports of files within `src`. */
function importsOf(files: readonly SourceFile[]): Import[] {
  const statement =
    /^(?:import|export)\s+(type\s)?[^'`;]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm;
  return files.flatMap(({ path: from, text }) =>
    [...text.matchAll(statement)].map(([, type, ...targets]) => ({
      from,
      to: path.posix.join(path.posix.dirname(from), targets.find((target) => target !== undefined)!),
      isType: type !== undefined,
    })),
  );
}

export const importsRunDownwards: Rule = (files) => {
  const sources = files.filter((file) => !isTest(file));
  const unknown = sources.filter((file) => layerOf(file.path) === -1);
  const inside = importsOf(sources).filter(({ to }) => !to.startsWith('..'));
  const upward = inside.filter(({ from, to, isType }) => {
    const isOpenToAll = to === 'foundation/http/handler.ts' && isType;
    return layerOf(to) > layerOf(from) && !isOpenToAll;
  });
  const level = inside.filter(({ from, to }) => layerOf(from) === layerOf(to) && roomOf(from) !== roomOf(to));
  return [
    ...unknown.map((file) => `${file.path} stands in no layer`),
    ...upward.map(({ from, to }) => `${from} imports ${to}, which lies above it`),
    ...circles(level).map((circle) => `${circle.join(' imports ')}: a circle`),
  ];
};

/** What stands in no wing puts the wings together, and its settings are for all. */
export const wingsRunDownwards: Rule = (files) =>
  importsOf(files.filter((file) => !isTest(file)))
    .filter(({ from, to }) => wingOf(to) !== -1 && wingOf(to) < wingOf(from))
    .map(({ from, to }) => `${from} imports ${to}, of a wing above its own`);

function circles(imports: readonly Import[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(roomOf(from), (next.get(roomOf(from)) ?? new Set()).add(roomOf(to)));
  const walk = (at: string, way: string[]): string[][] => {
    if (way.includes(at)) return way[0] === at ? [[...way, at]] : [];
    return [...(next.get(at) ?? [])].flatMap((to) => walk(to, [...way, at]));
  };
  return [...next.keys()].flatMap((start) => walk(start, []));
}

/** Files that import each other in a circle, types too, wherever they lie; a circle is named once. */
export const noCircleOfFiles: Rule = (files) => {
  const imports = importsOf(files.filter((file) => !isTest(file)));
  const done = new Set<string>();
  const walk = (at: string, way: string[]): string[] => {
    if (way.includes(at)) return [`${[...way.slice(way.indexOf(at)), at].join(' imports ')}: a circle`];
    if (done.has(at)) return [];
    const found = imports.filter(({ from }) => from === at).flatMap(({ to }) => walk(to, [...way, at]));
    done.add(at);
    return found;
  };
  return imports.flatMap(({ from }) => walk(from, []));
};

export const onlyConfigReadsTheEnvironment: Rule = (files) =>
  files
    .filter((file) => file.path !== 'config.ts' && !isTest(file))
    .filter((file) => /\bprocess(\.env\b|\[['"]env)|\benv\b[^;]*from 'node:process'/.test(file.text))
    .map((file) => `${file.path} reads the environment`);

/** What implements a port: beside the port, or in a folder of its own. */
const adapters =
  /^(voices\/agents\/(file|http)|platform\/installation\/(file|s3)-witness|foundation\/objects\/(disk|s3)|lines\/telephony\/[^/]+\/.+)\.ts$/;

/** `pg` itself goes to the first host that a URL names. */
export const connectionsFollowThePrimary: Rule = (files) =>
  files
    .filter((file) => !/^foundation\/database\/(client\.ts|primary\.ts|postgres\/)/.test(file.path))
    .filter(({ text }) => /new pg\.Client\(|new pg\.Pool\((?!\{[^}]*\bClient\b)/.test(text))
    .map(({ path }) => `${path}: connects by pg itself; take Client of foundation/database/client.ts.`);

export const onlyComposeImportsAdapters: Rule = (files) =>
  importsOf(files.filter((file) => !isTest(file) && file.path !== 'compose-adapters.ts'))
    .filter(({ to, isType }) => adapters.test(to) && !isType)
    .filter(({ from, to }) => !adapters.test(from) || path.posix.dirname(from) !== path.posix.dirname(to))
    .map(({ from, to }) => `${from} imports the adapter ${to}`);

/** Business time is the clock's, leases are `clock_timestamp()`, and time zones but UTC are reckoned in code, not in SQL. */
export const noDatabaseTime: Rule = (files) => {
  const banned =
    /(?<![.\w])now\(\)(?!\s*:)|\b(current_timestamp|current_date|localtimestamp|transaction_timestamp|statement_timestamp)\b|\bat time zone\b(?! 'UTC')/gi;
  return files.flatMap(({ path: at, text }) => {
    const takesNow = /\bnow: \(\) => number\b/.test(text);
    return [...withoutComments(text).matchAll(banned)]
      .map(([found]) => found)
      .filter((found) => !(takesNow && found === 'now()'))
      .map((found) => `${at} has ${found}`);
  });
};

/** What is decided can be told again: chance is made of a key (`spread`). Only what nobody asks about may be any number. */
export const noUnseededChance: Rule = (files) =>
  files
    .filter((file) => !['foundation/database/database.ts', 'foundation/http/event-stream.ts'].includes(file.path))
    .filter((file) => !isTest(file) && /\bMath\.random\b/.test(withoutComments(file.text)))
    .map((file) => `${file.path} asks Math.random`);

/** A carrier is asked for its ports, a number whether it is imported, and a call's row for its owner. */
export const nothingIsToldByNames: Rule = (files) => {
  const provider = /(?:provider|name)\s*(?:[!=]==|<>|=)\s*'(?:simulator|sip|twilio|telnyx)'/;
  const owner =
    /\b(?:contact_id|workflow_run_id|campaign_id) is (?:not )?null|\b(?:contactId|workflowRunId|runId) [!=]== null/;
  return files
    .filter((file) => !isTest(file) && [provider, owner].some((banned) => banned.test(withoutComments(file.text))))
    .map((file) => `${file.path} tells a carrier by its name, or an owner by what is null`);
};

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|^\s*(\/\/|--).*$/gm, '');

const longestFile = 400;

export const noLongFile: Rule = (files) =>
  files
    .map((file) => ({ at: file.path, lines: file.text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > longestFile)
    .map(({ at, lines }) => `${at} has ${lines} lines`);

const longestFunction = 100;

/** A node of a file's syntax tree, as far as this looks at it. */
interface SyntaxNode {
  type?: string;
  start: number;
  end: number;
  id?: { name: string };
  key?: { name: string };
}

function* functionsBelow(node: SyntaxNode, name = 'a function'): Generator<SyntaxNode & { name: string }> {
  const known = node.id?.name ?? node.key?.name ?? name;
  if (/Function/.test(node.type ?? '') && 'body' in node) yield { ...node, name: known };
  for (const child of Object.values(node)) if (typeof child === 'object' && child) yield* functionsBelow(child, known);
}

export const noLongFunction: Rule = (files) =>
  files
    .filter((file) => !isTest(file))
    .flatMap(({ path: at, text }) =>
      [...functionsBelow(parseAst(text, { lang: 'ts' }) as SyntaxNode)]
        .map(({ name, start, end }) => ({ name, lines: text.slice(start, end).split('\n').length }))
        .filter(({ lines }) => lines > longestFunction)
        .map(({ name, lines }) => `${at}: ${name} has ${lines} lines`),
    );

/** The comments of a file, of TypeScript and of SQL, each on one line. */
const commentsOf = (text: string) =>
  [...text.matchAll(/\/\*[\s\S]*?\*\/|(?:(?:^|\s)[ \t]*(?:\/\/|--) .*\n?)+/gm)].map(([comment]) =>
    comment.replaceAll(/\s*\n\s*(\*|\/\/|--)? */g, ' '),
  );

/**
 * Comments name documents that are there, and sections that these have: `dialing.md, "Claims"`. A title may go on.
 * @param documents their texts by their paths, from the repository or from its `docs`
 */
export const citationsLead =
  (documents: ReadonlyMap<string, string>): Rule =>
  (files) =>
    files.flatMap(({ path: at, text }) =>
      commentsOf(text)
        .flatMap((comment) => [...comment.matchAll(/([\w./-]+\.md)\b(?:, "([^"]+)")?/g)])
        .filter(([, name = '', section = '']) => {
          const titles = documents.get(name)?.match(/^#+ .*/gm) ?? [];
          return (
            !documents.has(name) || (section && !titles.some((title) => title.replace(/^#+ /, '').startsWith(section)))
          );
        })
        .map(([cited]) => `${at} cites ${cited}`),
    );

export const noVagueName: Rule = (files) =>
  files
    .filter((file) => /(^|\/)(utils?|helpers?|common|lib|misc|index)(\/|\.)/.test(file.path))
    .map((file) => `${file.path} bears a name that says nothing`);

/** Row-level security doesn't hold for that table (COPY refuses the others), so whoever writes there must be known. */
export const onlyTheImportWritesEntries: Rule = (files) =>
  files
    .filter((file) => !isTest(file) && file.path !== 'audience/contact-lists/staging.ts')
    .filter((file) => withoutComments(file.text).includes('contact_list_entries_all'))
    .map((file) => `${file.path} names contact_list_entries_all`);

/** Campaigns and runs register with the switchboard; what calls must know of them is handed over. */
export const callsKnowNoOwners: Rule = (files) =>
  files
    .filter((file) => file.path.startsWith('dialing/calls/') && !isTest(file))
    .filter((file) => /\b(?:campaigns|campaign_contacts|workflow_runs|call_intents)\b/.test(withoutComments(file.text)))
    .map((file) => `${file.path} names a table of an owner of calls`);

/** So that one reads in one file which calls a process holds, and why. */
export const onlyTheSwitchboardHoldsCalls: Rule = (files) =>
  files
    .filter((file) => !isTest(file) && file.path !== 'dialing/calls/switchboard.ts')
    .filter((file) => /Map<string, (?:HeldCall|CallToPlace)\b/.test(file.text))
    .map((file) => `${file.path} holds calls`);
