import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { newKey } from '../../apps/server/src/platform/api-keys/key.ts';
import { seedCampaign } from '../../apps/server/test/seed/campaign.ts';
import { type Child, forkTrunkline } from '../child.ts';
import { asSuperuser, POOL_SIZE, type Postgres, settle, startPostgres, temporaryFolder } from '../postgres.ts';
import { cpuBetween, cpuOf } from '../processes.ts';
import { untilQuiet } from '../quiet.ts';
import { inTurns, median } from '../rounds.ts';
import type { Found, Row } from '../table.ts';

const ROUNDS = 3;
/** Of each turn. */
const CALLS = 20_000;
/** Of each server before that: a process that has just begun takes several times as long. */
const WARM_UP = 5000;
/** Of each campaign: more than all turns call. */
const CONTACTS = 400_000;
const CAMPAIGNS = { 'one campaign': 1, 'six campaigns': 6 };
const LOOK_MS = 20;

/** What a turn of calls took. */
interface Turn {
  perSecond: number;
  /** CPU time of a call, in milliseconds. */
  serverCpu: number;
  postgresCpu: number;
  statements: number;
  commits: number;
  buffers: number;
  walBytes: number;
  /** How many connections waited for a lock of another, on average. */
  lockWaits: number;
}

/** What servers call from: campaigns in as many workspaces. */
interface Setting {
  connectionString: string;
  postgresPid: number;
  environment: Record<string, string>;
}

async function startSetting(postgres: Postgres, campaigns: number): Promise<Setting> {
  const { database, connectionString } = await postgres.database();
  for (let i = 0; i < campaigns; i += 1) {
    const contacts = Math.ceil(CONTACTS / campaigns);
    const campaign = { max_concurrency: 1000, status: 'paused' as const };
    await seedCampaign(database, { contacts, number: (at) => 14_152_000_000 + at * 7, campaign });
  }
  await asSuperuser(connectionString, 'create schema bench', 'create extension pg_stat_statements schema bench');
  const environment = {
    DATABASE_URL: connectionString,
    DATA_DIR: await temporaryFolder(),
    BOOTSTRAP_API_KEY: newKey('bench'),
    POOL_SIZE: String(POOL_SIZE),
    SIMULATOR_SPEED: '100000',
  };
  const { end } = await forkTrunkline(environment);
  await until(connectionString, 'select bool_and(contacts_added) as done from campaigns');
  await end();
  return { connectionString, environment, postgresPid: postgres.pid };
}

async function until(connectionString: string, query: string): Promise<void> {
  while (!(await asSuperuser<{ done: boolean }>(connectionString, query)).done) await sleep(100);
}

const ENDED = 'select sum(attempts - in_flight)::float8 as ended from campaigns';

/** So many servers call so many people. */
async function turnOf({ connectionString, environment, postgresPid }: Setting, servers: number): Promise<Turn> {
  await settle(connectionString);
  const children = await Promise.all(Array.from({ length: servers }, () => forkTrunkline(environment)));
  // What a server does once, as it starts, is no part of a call.
  await sleep(2000);
  await untilQuiet();
  const client = new pg.Client(connectionString.replace('//trunkline@', '//postgres@'));
  await client.connect();
  const ask = async <Answer>(query: string) => (await client.query(query)).rows[0] as Answer;
  const { ended: atFirst } = await ask<{ ended: number }>(ENDED);
  await client.query("update campaigns set status = 'running' where status = 'paused'");
  while ((await ask<{ ended: number }>(ENDED)).ended < atFirst + WARM_UP * servers) await sleep(LOOK_MS);
  await client.query('select bench.pg_stat_statements_reset()');
  const before = await figures(ask, children, postgresPid);
  const from = performance.now();
  let waits = 0;
  let looks = 0;
  let ended = before.ended;
  while (ended - before.ended < CALLS) {
    await sleep(LOOK_MS);
    const { waiting } = await ask<{ waiting: number }>(
      "select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock'",
    );
    waits += waiting;
    looks += 1;
    ({ ended } = await ask<{ ended: number }>(ENDED));
  }
  const seconds = (performance.now() - from) / 1000;
  const after = await figures(ask, children, postgresPid);
  const calls = after.ended - before.ended;
  const { rows: often } = await client.query<{ text: string; times: number; ms: number }>(
    `select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as text, calls::float8 / ${calls} as times,
      total_exec_time / ${calls} as ms
    from bench.pg_stat_statements where userid = 'trunkline'::regrole order by total_exec_time desc limit 12`,
  );
  for (const { text, times, ms } of often)
    console.error(`    ×${times.toFixed(3)} ${(ms * 1000).toFixed(1)} µs  ${text}`);
  await client.query("update campaigns set status = 'paused' where status = 'running'");
  while ((await ask<{ up: number }>('select sum(in_flight)::int as up from campaigns')).up > 0) await sleep(50);
  await client.end();
  for (const child of children) await child.end();
  await asSuperuser(connectionString, 'delete from servers');
  const each = (of: (figures: Figures) => number) => (of(after) - of(before)) / calls;
  const cpuOfServers = after.servers.reduce((sum, cpu, at) => sum + cpuBetween(before.servers[at]!, cpu), 0);
  return {
    perSecond: calls / seconds,
    serverCpu: (cpuOfServers / calls) * 1000,
    postgresCpu: (cpuBetween(before.postgres, after.postgres) / calls) * 1000,
    statements: each((at) => at.statements),
    commits: each((at) => at.commits),
    buffers: each((at) => at.buffers),
    walBytes: each((at) => at.walBytes),
    lockWaits: waits / looks,
  };
}

type Figures = Awaited<ReturnType<typeof figures>>;

async function figures(ask: <Answer>(query: string) => Promise<Answer>, servers: Child[], postgresPid: number) {
  const counted = await ask<Record<'ended' | 'statements' | 'buffers' | 'commits' | 'walBytes', number>>(
    `select (${ENDED}), sum(calls) filter (where query !~* '^(begin|commit|set|rollback|discard)')::float8 as statements,
      sum(shared_blks_hit + shared_blks_read)::float8 as buffers, sum(calls) filter (where query ~* '^commit')::float8 as commits,
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes"
    from bench.pg_stat_statements where userid = 'trunkline'::regrole`,
  );
  const [postgres, ...processes] = await Promise.all([postgresPid, ...servers.map(({ pid }) => pid)].map(cpuOf));
  return { ...counted, postgres: postgres!, servers: processes };
}

/** Calls of one server and of three, which call the same campaigns on one PostgreSQL, in turns. */
export async function benchServers(): Promise<Found> {
  const postgres = await startPostgres({ shared_preload_libraries: 'pg_stat_statements' });
  const rows: Row[] = [];
  for (const [title, campaigns] of Object.entries(CAMPAIGNS)) {
    const setting = await startSetting(postgres, campaigns);
    const turns = await inTurns(['one', 'three'], ROUNDS, async (name) => {
      const turn = await turnOf(setting, name === 'one' ? 1 : 3);
      console.error(`  ${title}, ${name}: ${describe(turn)}`);
      return turn;
    });
    const row = (what: string, of: keyof Turn, unit: string, aim?: string): Row => ({
      what: `${title}: ${what}`,
      ours: median(turns.three.map((turn) => turn[of])),
      peer: 'one server',
      theirs: median(turns.one.map((turn) => turn[of])),
      unit,
      ...(aim && { aim }),
    });
    rows.push(
      row('three servers, finished calls', 'perSecond', '/s', '≥ 1'),
      row('CPU of the servers a call', 'serverCpu', 'ms'),
      row('CPU of PostgreSQL a call', 'postgresCpu', 'ms'),
      row('statements a call', 'statements', ''),
      row('commits a call', 'commits', ''),
      row('buffers a call', 'buffers', ''),
      row('write-ahead log a call', 'walBytes', 'bytes'),
      row('connections that wait for a lock', 'lockWaits', ''),
    );
  }
  return { rows };
}

const describe = (turn: Turn): string =>
  Object.entries(turn)
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join(', ');
