import { beforeAll, expect, test } from 'vitest';
import { cli, file, json, start } from './cli.ts';

let workflow = '';

/** Sleeps for a day, and ends. */
const definition = {
  name: 'Sleeper',
  startNodeId: 'sleep',
  nodes: [
    { id: 'sleep', type: 'wait', title: 'Sleep', seconds: 86_400, next: 'end' },
    { id: 'end', type: 'end', title: 'Done', status: 'completed' },
  ],
};

beforeAll(async () => {
  const made = await cli(['workflows', 'create', '--data', '-', '--json'], { stdin: JSON.stringify(definition) });
  workflow = JSON.parse(made.stdout).id;
  await json('workflows', 'publish', workflow);
});

const run = (key: string, ...flags: string[]) =>
  json<{ id: string }>('runs', 'start', workflow, '--key', key, '--set', 'phone_number=+14155550100', ...flags);

test('a workflow is listed, shown and replaced', async () => {
  expect(await json('workflows', 'list')).toContainEqual(
    expect.objectContaining({ id: workflow, status: 'published' }),
  );
  const changed = { ...definition, name: 'Sleeper 2' };
  await json('workflows', 'update', workflow, '--data', await file('w.json', JSON.stringify(changed)));
  expect(await json('workflows', 'show', workflow)).toMatchObject({ definition: { name: 'Sleeper 2' } });
});

test('a run is started once by a key, followed, woken to its end, and shown with its steps', async () => {
  const { id } = await run('event-1', '--concurrency-key', 'patient-1');
  expect(await run('event-1', '--concurrency-key', 'patient-1')).toMatchObject({ id });
  const following = start(['runs', 'follow', id]);
  await expect.poll(following.stdout).toMatch(/waiting_schedule at Sleep, wakes 20/i);
  expect((await cli(['runs', 'wake', workflow, 'patient-1'])).stdout).toContain('patient-1');
  const { code, stdout, stderr } = await following.ended;
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toMatch(/completed/);
  const shown = await cli(['runs', 'show', id]);
  expect(shown.stdout).toMatch(/^steps\n/m);
  expect((await cli(['runs', 'wake', workflow, 'patient-1'])).stdout).toBe('None of them sleeps.\n');
});

test('Ctrl-C leaves a run running, and cancel ends it', async () => {
  const { id } = await run('event-2');
  const following = start(['runs', 'follow', id, '--json']);
  await expect.poll(following.stdout).toContain('waiting_schedule');
  following.interrupt();
  const { code, stdout, stderr } = await following.ended;
  expect(code).toBe(130);
  expect(JSON.parse(stderr).error.message).toContain(`end it: trunkline runs cancel ${id}`);
  for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line).data.id).toBe(id);
  expect(await json('runs', 'list', '--status', 'waiting_schedule')).toContainEqual(expect.objectContaining({ id }));
  expect(await json('runs', 'cancel', id)).toMatchObject({ status: 'cancelled' });
  await json('workflows', 'delete', workflow);
});

test('events are listed from a place on and followed, once the feed is on', async () => {
  const off = await cli(['events']);
  expect([off.code, off.stderr]).toEqual([1, expect.stringContaining('The event feed is off.')]);
  await json('workspace', 'update', '--event-feed');
  const none = await cli(['events', '--type', 'trunk.*']);
  const place = /events --after (\d+)/.exec(none.stderr + none.stdout)![1]!;
  const following = start(['events', '--follow', '--type', 'knowledge_base.*', '--after', place, '--json']);
  const first = await json<{ id: string }>('kb', 'create', '--name', 'Prices');
  const second = await json<{ id: string }>('kb', 'create', '--name', 'Hours');
  await expect.poll(following.stdout).toContain(second.id);
  following.interrupt();
  const { code, stdout, stderr } = await following.ended;
  expect(code).toBe(130);
  const followed = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(followed.map(({ resourceId }) => resourceId)).toEqual([first.id, second.id]);
  expect(JSON.parse(stderr).error.message).toContain(
    `trunkline events --follow --after ${followed[1].after} --type knowledge_base.*`,
  );
  expect(await json('events', '--type', 'knowledge_base.*')).toEqual(followed);
  const listed = await cli(['events', '--after', followed[0].after, '--resource-id', second.id]);
  expect(listed.stdout).toMatch(new RegExp(`knowledge_base\\.empty +${second.id}`));
  expect(listed.stdout).not.toContain(first.id);
  expect(listed.stderr + listed.stdout).toContain(
    `trunkline events --after ${followed[1].after} --resource-id ${second.id}`,
  );
  expect((await cli(['events', '--limit', '0'])).code).toBe(2);
  await json('workspace', 'update', '--no-event-feed');
  for (const { id } of [first, second]) await json('kb', 'delete', id);
});
