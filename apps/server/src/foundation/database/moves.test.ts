import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import { expect, test } from 'vitest';
import { from, statesBefore } from './moves.ts';

const transitions = {
  draft: ['running', 'cancelled'],
  paused: ['running'],
  running: ['paused'],
  cancelled: [],
} as const;

const db = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const rendered = (states: ReturnType<typeof from>) => sql`${states}`.compile(db);

test('the states before a state', () => {
  expect(statesBefore(transitions, 'running')).toEqual(['draft', 'paused']);
  expect(statesBefore(transitions, 'draft')).toEqual([]);
});

test('the states that a move starts from are literals', () => {
  expect(rendered(from(transitions, 'running'))).toMatchObject({ sql: "('draft', 'paused')", parameters: [] });
  expect(rendered(from(transitions, 'running', 'paused'))).toMatchObject({ sql: "('paused')", parameters: [] });
});

test('a move that the table does not know is a fault of ours', () => {
  expect(() => from(transitions, 'running', 'cancelled')).toThrow('from cancelled to running');
  expect(() => from(transitions, 'draft')).toThrow('from any state to draft');
});
