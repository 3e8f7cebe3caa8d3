import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { LONGEST_BACKGROUND_SECONDS, LONGEST_DUE_SECONDS } from '../../../src/commands/operator/advice.ts';
import { readPart } from '../../../src/commands/operator/read-part.ts';
import { readStatus } from '../../../src/commands/operator/read-status.ts';
import { startTellingCondition } from '../../../src/commands/operator/tell-condition.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const deploy = path.join(import.meta.dirname, '../../../../../deploy');
const alertsFile = path.join(deploy, 'prometheus/alerts.yml');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string };
}
const { rules } = (parse(readFileSync(alertsFile, 'utf8')) as { groups: [{ rules: Rule[] }] }).groups[0];

interface Panel {
  title: string;
  targets?: { expr: string }[];
}
const { panels } = JSON.parse(readFileSync(path.join(deploy, 'grafana/trunkline.json'), 'utf8')) as { panels: Panel[] };

/** What dashboards ask; a variable stands for a pattern. */
const shown = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr.replaceAll('$instance', '.*')] as const),
);
const asked = [...rules.map(({ alert, expr }) => [alert, expr] as const), ...shown];

/** What an expression of PromQL is made of: the names of metrics, and of whether it is one. */
function read(expression: string): { metrics: string[]; isValid: boolean } {
  const metrics: string[] = [];
  let isValid = true;
  parser.parse(expression).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) isValid = false;
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector')
        metrics.push(expression.slice(from, to));
    },
  });
  return { metrics, isValid };
}

const OPERATOR_KEY = 'operator-key-of-these-tests-0123456789';

let server: TestServer;
const metricsOf = async () => (await fetch(`${server.url}/metrics`)).text();
beforeAll(async () => {
  // Under such a lease nobody takes over what a lost server holds while a test looks.
  server = await startTestServer({
    config: { sipHost: '127.0.0.1', sipPort: 0, leaseSeconds: 300, operatorKey: OPERATOR_KEY },
  });
});
afterAll(() => server.stop());

test('every metric that an alert or the dashboard names is one that a server has', async () => {
  const text = await metricsOf();
  const has = new Set(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? ['_bucket', '_count', '_sum'].map((ending) => name + ending) : [name],
    ),
  );
  // Prometheus makes it itself.
  has.add('up');
  const unknown = asked.flatMap(([where, expression]) =>
    read(expression)
      .metrics.filter((name) => !has.has(name))
      .map((name) => `${where}: ${name}`),
  );
  expect(unknown).toEqual([]);
  expect(asked.flatMap(([, expression]) => read(expression).metrics).length).toBeGreaterThan(40);
});

test('the dashboard shows every metric of ours', async () => {
  const names = [...(await metricsOf()).matchAll(/^# TYPE (trunkline_\w+)/gm)].map(([, name]) => name!);
  const all = asked.map(([, expression]) => expression).join(' ');
  expect(names.filter((name) => !all.includes(name))).toEqual([]);
});

test.each(asked)('%s is PromQL', (_where, expression) => {
  expect(read(expression).isValid).toBe(true);
  expect(read(expression).metrics).not.toEqual([]);
  expect(read(`${expression} by`).isValid).toBe(false);
});

test.each(rules.map((rule) => [rule.alert, rule] as const))('%s says what to do', (alert, rule) => {
  expect(alert).toMatch(/^Trunkline[A-Z]\w+$/);
  expect(rule.labels.severity).toMatch(/^(critical|warning)$/);
  expect(rule.annotations.summary.length).toBeGreaterThan(10);
  expect(rule.annotations.description.length).toBeGreaterThan(50);
  const page = readFileSync(path.join(deploy, '../docs/operations.md'), 'utf8');
  expect(page).toContain(`| \`${alert}\` |`);
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
test.skipIf(!hasPromtool)('Prometheus takes the rules', () => {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', alertsFile], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('a server that runs has its lease, its clock, room on its disk, and nothing that waits', async () => {
  const value = async (name: string) => {
    const [, found] = new RegExp(`^${name} (\\S+)$`, 'm').exec(await metricsOf()) ?? [];
    return Number(found);
  };
  expect(await value('trunkline_ready')).toBe(1);
  expect(await value('trunkline_lease_held')).toBe(1);
  expect(await value('trunkline_lease_left_seconds')).toBeGreaterThan(0);
  expect(await value('trunkline_disk_free_bytes')).toBeGreaterThan(0);
  expect(await value('trunkline_media_threads')).toBe(1);
  expect(await value('trunkline_media_calls')).toBe(0);
  const text = await metricsOf();
  for (const queue of ['calls', 'campaigns', 'workflow_runs', 'webhook_deliveries', 'read-document', 'write-export'])
    expect(text).toMatch(new RegExp(`^trunkline_queue_oldest_seconds\\{queue="${queue}"\\} 0$`, 'm'));
});

const log = pino({ level: 'silent' });
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

async function statusOf(key = OPERATOR_KEY) {
  const { data, response } = await server.clientOf(key).GET('/v1/operator/status');
  return { status: response.status, read: data?.data };
}

test("the operator's read opens for the operator's key alone, which opens nothing else", async () => {
  expect((await statusOf()).status).toBe(200);
  for (const key of [server.apiKey, `${OPERATOR_KEY}x`]) expect((await statusOf(key)).status).toBe(401);
  const signedIn = await server.client.POST('/v1/sessions', { body: { apiKey: server.apiKey } });
  const Cookie = signedIn.response.headers.get('set-cookie')!.split(';')[0]!;
  for (const headers of [{ Cookie }, {}])
    expect((await fetch(`${server.url}/v1/operator/status`, { headers })).status).toBe(401);
  expect((await server.clientOf(OPERATOR_KEY).GET('/v1/workspace')).response.status).toBe(401);
});

test('it shows who lives, who holds what, what waits, what is held back, and says what to do', async () => {
  const { database } = server;
  const workspaceId = await seedWorkspace(database, { dialing_paused_at: ago(50), max_concurrent_calls: 1 });
  const own = { workspace_id: workspaceId };
  const lost = { started_at: ago(-10), renewed_at: ago(7200), lease_until: ago(7000), version: '0.3.0' };
  const { id: lostServer } = await seedRow(database, 'servers', lost);
  const lines = { warnings: ['the clock of this machine is 9 s ahead'], warned_at: ago(60), draining: true };
  const { id: drainingServer } = await seedRow(database, 'servers', { lease_until: ago(-3000), ...lines });
  await seedRow(database, 'calls', { ...own, server_id: lostServer, to_number: 12125550123 });
  const trunkId = await seedTrunk(database, workspaceId, { status: 'paused', reason: 'unreachable' });
  await seedRow(database, 'agent_health', { ...own, agent_id: 'agent_mute', failing_since: ago(30), reason: 'of Ada' });
  const webhook_id = await seedWebhook(database, workspaceId, ['call.ended'], { resting_until: ago(-3600) });
  await seedRow(database, 'webhook_deliveries', { ...own, webhook_id, next_attempt_at: ago(30) });
  const paused = { status: 'paused' as const, pause_reason: 'calls_failing' as const, paused_at: ago(20) };
  const { id: campaignId } = await seedRow(database, 'campaigns', { ...own, ...paused });

  const [server1, server2, ws] = [toId('srv', lostServer), toId('srv', drainingServer), toId('ws', workspaceId)];
  await until(async () => {
    const { read } = await statusOf();
    expect(read!.unread).toEqual([]);
    expect(read!.servers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ status: 'ready', lastHeartbeatAt: expect.any(String), version: expect.any(String) }),
        expect.objectContaining({ serverId: server1, status: 'lost', lastHeartbeatAt: lost.renewed_at.toISOString() }),
        expect.objectContaining({ serverId: server2, status: 'draining' }),
      ]),
    );
    const lease = { kind: 'calls', serverId: server1, count: 1, until: lost.lease_until.toISOString() };
    expect(read!.leases).toContainEqual(lease);
    expect(read!.queues.find(({ name }) => name === 'webhook_deliveries')).toMatchObject({
      waiting: 1,
      hasMore: false,
    });
    expect(read!.queues.find(({ name }) => name === 'read-document')).toMatchObject({
      waiting: 0,
      retrying: 0,
      failed: 0,
    });
    const brakes = read!.brakes.filter((brake) => brake.workspaceId === ws);
    expect(brakes).toEqual([
      { kind: 'kill_switch', workspaceId: ws, since: expect.any(String) },
      {
        kind: 'trunk_paused',
        workspaceId: ws,
        trunkId: toId('trk', trunkId),
        reason: 'unreachable',
        since: expect.any(String),
      },
      { kind: 'agent_failing', workspaceId: ws, agentId: 'agent_mute', since: expect.any(String) },
      {
        kind: 'campaign_paused',
        workspaceId: ws,
        campaignId: toId('cmp', campaignId),
        reason: 'calls_failing',
        since: paused.paused_at.toISOString(),
      },
      { kind: 'concurrent_calls', workspaceId: ws },
      { kind: 'webhook_resting', workspaceId: ws, webhookId: toId('whk', webhook_id), until: expect.any(String) },
    ]);
    expect(read!.warnings).toEqual([
      {
        text: 'A server was lost. It has not renewed its lease.',
        since: lost.renewed_at.toISOString(),
        advice: expect.stringContaining('log'),
        serverId: server1,
      },
      {
        text: lines.warnings[0],
        since: lines.warned_at.toISOString(),
        advice: expect.stringContaining('chronyc'),
        serverId: server2,
      },
      {
        text: `The trunk ${toId('trk', trunkId)} does not answer.`,
        since: expect.any(String),
        advice: expect.stringContaining('firewalls'),
      },
      {
        text: expect.stringContaining('agent_mute'),
        since: expect.any(String),
        advice: expect.stringContaining('doctor'),
      },
      { text: expect.stringContaining(toId('cmp', campaignId)), since: expect.any(String), advice: expect.any(String) },
      { text: expect.stringContaining(toId('whk', webhook_id)), advice: expect.stringContaining('DNS') },
    ]);
    expect(JSON.stringify(read)).not.toMatch(/Ada|2125550123/);
  });
});

test('it says what could not be read, and gives each part two seconds', async () => {
  const [{ expected }] = await readPart(server.database, async ({ db }) => {
    const { rows } = await sql<{ expected: string }>`select current_setting('statement_timeout') as expected`.execute(
      db,
    );
    return rows as [{ expected: string }];
  });
  expect(expected).toBe('2s');
  const away = { inEngine: () => Promise.reject(new Error('away')) } as unknown as Database;
  const lease = { serverId: newUuid, isHeld: () => false };
  const parts = { database: away, lease, clock: server.clock, log, queueAges: async () => undefined };
  const read = await readStatus({ ...parts, warnings: async () => ['the last file …'], maxCallsPerDay: undefined });
  expect(read.unread.toSorted()).toEqual(['brakes', 'leases', 'queues', 'servers', 'standbys']);
  expect(read.warnings.map(({ text }) => text)).toEqual([
    'The database does not answer, or answers too slowly.',
    expect.stringContaining('may place no calls'),
    'the last file …',
  ]);
});

test('ages of queues that come too late are told as unread', async () => {
  const lease = { serverId: newUuid, isHeld: () => true };
  const parts = { database: server.database, lease, clock: server.clock, log, queueAges: async () => undefined };
  const read = await readStatus({ ...parts, warnings: async () => [], maxCallsPerDay: undefined });
  expect(read.unread).toEqual(['queues']);
});

test('a server tells others what it warns of when that changes, and that it drains', async () => {
  const { database } = server;
  const { id } = await seedRow(database, 'servers', { lease_until: ago(-3000) });
  const draining = new AbortController();
  const told = () =>
    database.inEngine(({ db }) =>
      db.selectFrom('servers').select(['warnings', 'warned_at', 'draining']).where('id', '=', id).executeTakeFirst(),
    );
  const lines = ['the last file could not be stored: its disk is full'];
  const parts = { database, lease: { serverId: () => id }, draining: draining.signal, log };
  const telling = startTellingCondition({ ...parts, warnings: async () => lines });
  await until(async () =>
    expect(await told()).toEqual({ warnings: lines, warned_at: expect.any(Date), draining: false }),
  );
  draining.abort();
  lines.pop();
  await telling.close();
  expect(await told()).toEqual({ warnings: [], warned_at: null, draining: true });
});

test('what waits is told of as the alerts do', () => {
  const longest = (alert: string) => Number(/> (\d+)$/.exec(rules.find((rule) => rule.alert === alert)!.expr)![1]);
  expect(longest('TrunklineQueueOld')).toBe(LONGEST_DUE_SECONDS);
  expect(longest('TrunklineBackgroundWorkOld')).toBe(LONGEST_BACKGROUND_SECONDS);
});
