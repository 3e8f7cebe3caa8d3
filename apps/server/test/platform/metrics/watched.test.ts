import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startTestServer, type TestServer } from '../../server.ts';

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

let server: TestServer;
const metricsOf = async () => (await fetch(`${server.url}/metrics`)).text();
beforeAll(async () => {
  server = await startTestServer({ config: { sipHost: '127.0.0.1', sipPort: 0 } });
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
