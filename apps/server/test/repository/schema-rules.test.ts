import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { lostBy } from './schema-rules.ts';

const dump = readFileSync(path.join(import.meta.dirname, '../../migrations/schema.txt'), 'utf8').trim();

/** The schema with a table's block changed. */
function changed(table: string, change: (block: string) => string): string {
  const blocks = dump.split('\n\n');
  const at = blocks.findIndex((block) => new RegExp(`^table ${table}\\b`).test(block));
  const now = change(blocks[at]!);
  expect(now).not.toBe(blocks[at]);
  return blocks.with(at, now).join('\n\n');
}

const and = (line: string) => (block: string) => `${block}\n  ${line}`;
const without = (pattern: RegExp) => (block: string) => block.replace(pattern, '');

const harmless: [string, string][] = [
  ['nothing', dump],
  ['a table', `${dump}\n\ntable more, row security forced\n  id uuid not null\n  PRIMARY KEY (id)`],
  ['a column that may be null', changed('agents', and('more text'))],
  ['a column with a default', changed('agents', and("more text not null default ''::text"))],
  [
    'a default',
    changed('agents', (block) => block.replace('name text not null', "name text not null default ''::text")),
  ],
  ['an index', changed('agents', and('CREATE INDEX a ON public.agents USING btree (name)'))],
  [
    'another status',
    changed('agents', (block) => block.replace("'ringing'::text]", "'ringing'::text, 'later'::text]")),
  ],
  [
    'a key over a new column',
    changed('agents', and('more text\n  CREATE UNIQUE INDEX a ON public.agents USING btree (workspace_id, more)')),
  ],
  ['a check of a new column', changed('agents', and('more integer\n  CHECK ((more > 0))'))],
  ['no index that only finds', changed('agents', without(/\n {2}CREATE INDEX .*/))],
];

test.each(harmless)('former servers go on with a schema that has gained or changed %s', (_, now) => {
  expect(lostBy(dump, now)).toEqual([]);
});

const losses: [string, string][] = [
  ['agents: is gone', dump.replace(/\n\ntable agents\b.*(\n {2}.*)*/, '')],
  ['agents: name is gone', changed('agents', without(/\n {2}name .*/))],
  ['agents: name was name text not null', changed('agents', (block) => block.replace('name text', 'name jsonb'))],
  [
    'agents: name was name text not null',
    changed('agents', (block) => block.replace('name text not null', 'name text')),
  ],
  ['agents: more must be given', changed('agents', and('more text not null'))],
  ['servers: started_at has no default any more', changed('servers', without(/ default clock_timestamp\(\)/))],
  ['agents: has another wall', changed('agents', without(/, row security forced/))],
  ['api_keys: is without UNIQUE (hash)', changed('api_keys', without(/\n {2}UNIQUE .*/))],
  ['agents: is without policy tenant', changed('agents', without(/\n {2}policy .*/))],
  ['agents: has policy more', changed('agents', and('policy more restrictive using false'))],
  ['agents: has UNIQUE (name)', changed('agents', and('UNIQUE (name)'))],
  ['agents: has CHECK', changed('agents', and("CHECK ((name <> ''::text))"))],
  ['agents: has CHECK', changed('agents', and('more text\n  CHECK ((more IS NOT NULL))'))],
  ['agents: has CHECK', changed('agents', without(/, 'ringing'::text/))],
  [
    'more: keeps rows of agents from being deleted',
    `${dump}\n\ntable more\n  id uuid\n  FOREIGN KEY (id) REFERENCES agents(id)`,
  ],
  [
    'campaign_lists: is without FOREIGN KEY',
    changed('campaign_lists', without(/\n {2}FOREIGN KEY .* ON DELETE CASCADE/)),
  ],
];

test('a value may come to a list of one', () => {
  const one = changed('agents', and("more text not null default 'a'::text\n  CHECK ((more = 'a'::text))"));
  const two = one.replace("(more = 'a'::text)", "(more = ANY (ARRAY['a'::text, 'b'::text]))");
  const other = one.replace("'a'::text))", "'b'::text))");
  expect([lostBy(one, two), lostBy(one, other)]).toEqual([[], [expect.stringContaining('agents: has CHECK')]]);
});

test.each(losses)('former servers would miss what a schema has not: %s', (told, now) => {
  expect(lostBy(dump, now)).toEqual([expect.stringContaining(told)]);
});
