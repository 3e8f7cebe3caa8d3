import { setTimeout as sleep } from 'node:timers/promises';
import { fromId } from '../../apps/server/src/foundation/values/ids.ts';
import { asSuperuser, settle } from '../postgres.ts';
import { median } from '../rounds.ts';
import type { Cost } from '../table.ts';
import type { Trunkline } from './trunkline.ts';

const SLEEPERS = 300_000;
const KEYS = 500;
const ROUNDS = 20;

/** What it takes to wake 500 of 300,000 sleeping runs by their keys. */
export async function benchWake(trunkline: Trunkline): Promise<Cost[]> {
  const workflowId = await trunkline.publish({
    name: 'Sleep',
    startNodeId: 'sleep',
    nodes: [
      { id: 'sleep', type: 'wait', title: 'Sleep for a month', seconds: 2_592_000, next: 'done' },
      { id: 'done', type: 'end', title: 'Done', status: 'completed' },
    ],
  });
  await trunkline.start(workflowId, 'sleepers', { 'Concurrency-Key': 'sleeper' });
  const count = (condition: string) =>
    asSuperuser<{ n: number }>(
      trunkline.connectionString,
      `select count(*)::int as n from workflow_runs where workflow_id = '${fromId(workflowId)}' and ${condition}`,
    );
  while ((await count("status = 'waiting_schedule' and server_id is null")).n < 1) await sleep(50);
  await asSuperuser(trunkline.connectionString, ...copies(fromId(workflowId)));
  await settle(trunkline.connectionString);
  console.error('  sleeping runs are there');

  const figures: { request: number; ended: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const concurrencyKeys = Array.from({ length: KEYS }, (_, i) => `sleeper-${round + 1 + i * 601}`);
    const from = performance.now();
    const answer = await trunkline.post(200, `/${workflowId}/runs/wake`, { concurrencyKeys });
    const request = performance.now() - from;
    const woken = answer.match(/"sleeper-\d+"/g)?.length;
    if (woken !== KEYS) throw new Error(`Only ${woken} runs woke.`);
    while ((await count('ended_at is not null')).n < (round + 1) * KEYS) await sleep(10);
    if (round > 0) figures.push({ request, ended: performance.now() - from });
  }
  const requests = figures.map((figure) => figure.request);
  const cost = (what: string, value: number) => ({
    what: `wake 500 of 300k sleeping runs, ${what}`,
    value,
    unit: 'ms',
  });
  return [
    { ...cost('whole request', median(requests)), aim: '≤ 50 ms' },
    cost(`slowest of ${ROUNDS} requests`, Math.max(...requests)),
    cost('until all have ended', median(figures.map((figure) => figure.ended))),
  ];
}

/** Statements that copy the one sleeping run of a workflow, its key and its step. */
function copies(workflow: string): string[] {
  const own = `from workflow_runs r where r.workflow_id = '${workflow}'`;
  return [
    `insert into workflow_runs
      select copy.* from workflow_runs r, generate_series(1, ${SLEEPERS}) i,
        jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'concurrency_key', 'sleeper-' || i)) copy
      where r.workflow_id = '${workflow}'`,
    `insert into concurrency_keys
      select copy.* from concurrency_keys k, (select id, concurrency_key ${own} and concurrency_key <> 'sleeper') r,
        jsonb_populate_record(k, jsonb_build_object('key', r.concurrency_key, 'active_run', r.id)) copy
      where k.key = 'sleeper'`,
    `insert into workflow_run_steps
      select copy.* from workflow_run_steps s, (select id ${own} and concurrency_key <> 'sleeper') r,
        jsonb_populate_record(s, jsonb_build_object('run_id', r.id)) copy
      where s.run_id = (select id ${own} and concurrency_key = 'sleeper')`,
  ];
}
