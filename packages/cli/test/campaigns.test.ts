import { beforeAll, expect, test } from 'vitest';
import { cli, client, file, json, start } from './cli.ts';

let fromNumber = '';
let listId = '';

/** The arguments that every campaign here has. */
const basics = () => ['--agent-id', 'agent_hello', '--from-number', fromNumber, '--list', listId];

beforeAll(async () => {
  const [first] = await json<{ phoneNumber: string }[]>(
    'numbers',
    'search',
    '--provider',
    'simulator',
    '--country',
    'US',
  );
  fromNumber = first!.phoneNumber;
  await json('numbers', 'buy', fromNumber, '--provider', 'simulator');
  const upload = await client().contactLists.upload({
    name: 'Campaigns',
    file: 'phone,name\n+14155550100,Ada\n+14155550186,\u001b[31mGrace\n',
  });
  listId = (await client().contactLists.confirm(upload.list.id)).id;
});

/** A campaign of two people. */
async function campaign(name: string, ...flags: string[]): Promise<string> {
  return (await json<{ id: string }>('campaigns', 'create', '--name', name, ...basics(), ...flags)).id;
}

test('is made, previewed, started, watched to its end, and says why nobody is called again', async () => {
  const id = await campaign('Whole', '--max-concurrency', '1', '--tags', 'a,b');
  const preview = await cli(['campaigns', 'preview', id]);
  expect(preview.stdout).toMatch(/^2 would be called\.\n/);
  expect(preview.stdout).toMatch(/^\+14155550186 .*Grace/m);
  const range = /^In the first 24 hours they could ring from 0:00 to 24:00, by their own clocks\.$/m;
  for (const said of [range, /^2 could ring before 8:00 or from 21:00 on/m, /^0:00 +24:00 +2$/m])
    expect(preview.stdout).toMatch(said);
  expect(preview.stdout).not.toContain('\u001b');
  expect(await json('campaigns', 'start', id)).toMatchObject({ id, maxConcurrency: 1, tags: ['a', 'b'] });

  const watched = await cli(['campaigns', 'watch', id, '--json']);
  expect(watched.code).toBe(0);
  const events = watched.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(events.at(-1)).toMatchObject({ eventType: 'campaign.completed', data: { stats: { done: 2 } } });
  const again = await cli(['campaigns', 'watch', id]);
  expect(again.stdout).toMatch(/completed: 2 of 2/);
  expect(again.stdout).toMatch(/How 2 calls ended\nOUTCOME +CALLS\n(answered|busy) +1\n/);
  expect(again.stderr).toBe('');

  const stats = await cli(['campaigns', 'stats', id]);
  expect(stats.stdout).toMatch(/^totalContacts +2$/m);
  expect(stats.stdout).toMatch(
    /^Not called any more\nCONTACTS +WHY\n1 +They were tried as often as the campaign may\.$/m,
  );
  const why = await cli(['campaigns', 'why', id, '(415) 555-0186']);
  expect(why.stdout).toContain('They were tried as often as the campaign may.');
  expect(why.stdout).toContain('Called 1 time, at last: busy.');
  expect(await json('campaigns', 'why', id, '+14155550186')).toMatchObject({ reason: 'retries_exhausted' });
  expect((await cli(['campaigns', 'why', id, '+14155550999'])).code).toBe(3);
  expect((await cli(['why', '+14155550186'])).stdout).toContain(`Whole (${id}, completed)`);
  const person = (await cli(['people', 'show', '(415) 555-0186', '--default-country', 'US'])).stdout;
  expect(person).toMatch(/^phoneNumber +\+14155550186$/m);
  expect(person).toMatch(new RegExp(`^${id} +completed +no +They were tried as often`, 'm'));
  const { contacts } = await json('why', '+14155550186');
  expect(contacts).toContainEqual(expect.objectContaining({ campaignId: id, reason: 'retries_exhausted' }));
  expect(await json('campaigns', 'contacts', id, '--state', 'done')).toHaveLength(2);
  expect(await json('campaigns', 'list', '--tag', 'a')).toHaveLength(1);
  expect((await cli(['campaigns', 'redial', id, '--outcomes', 'busy', '--dry-run'])).stdout).toBe(
    '1 would be called again.\n',
  );
  const redial = (await cli(['campaigns', 'redial', id, '--outcomes', 'busy'])).stdout;
  const [, draft = ''] =
    /^1 are called again, by a new draft: trunkline campaigns start (cmp_\w+)\n$/.exec(redial) ?? [];
  const [contact] = await json<{ id: string }[]>('campaigns', 'contacts', draft);
  expect(await json('campaigns', 'skip', draft, contact!.id)).toMatchObject({ reason: 'skipped_by_user' });
  expect(await json('campaigns', 'cancel', draft)).toMatchObject({ redialOf: id });
  expect(await json('campaigns', 'delete', id)).toMatchObject({ deleted: true });
});

test('is changed, paused and resumed, and Ctrl-C while it is watched leaves it running', async () => {
  const id = await campaign('Interrupted');
  await json('campaigns', 'update', id, '--name', 'Changed', '--no-recording');
  expect(await json('campaigns', 'show', id)).toMatchObject({ name: 'Changed' });
  const never = await file('never.csv', 'phone\n+14155550177\n');
  const dnd = await json<{ id: string }>('lists', 'upload', never, '--name', 'Never', '--dnd', '--yes');
  await json('campaigns', 'update', id, '--dnd-list', dnd.id);
  await json('campaigns', 'update', id, '--list', listId);
  const { lists } = await json<{ lists: object[] }>('campaigns', 'show', id);
  expect(lists).toMatchObject([
    { id: listId, role: 'contacts' },
    { id: dnd.id, role: 'dnd' },
  ]);
  const only = await file('lists.json', JSON.stringify({ lists: [{ id: listId, role: 'contacts' }] }));
  await json('campaigns', 'update', id, '--data', only);
  await client().contactLists.delete(dnd.id);
  await json('workspace', 'update', '--max-concurrent-calls', '7');
  await json('pause', '--yes');
  const started = (await cli(['campaigns', 'start', id])).stdout;
  expect(started).toMatch(/^status +running$/m);
  expect(started).toMatch(/^In the first 24 hours they could ring from 0:00 to 24:00/m);
  expect(started).not.toContain('localHours');
  const watching = start(['campaigns', 'watch', id]);
  await expect.poll(watching.stdout).toMatch(/^running: 0 of 2/m);
  watching.interrupt();
  const { code, stderr } = await watching.ended;
  expect(code).toBe(130);
  expect(stderr).toContain(`The campaign goes on. Again: trunkline campaigns watch ${id}`);
  // Its contacts are added a moment after it has started.
  const why = async () => (await cli(['campaigns', 'why', id, '+14155550100'])).stdout;
  await expect.poll(why, { timeout: 120_000 }).toContain('trunkline unpause');
  expect((await cli(['why', '+14155550100'])).stdout).toMatch(/^All dialing is paused since 20/);
  expect(await json('campaigns', 'pause', id)).toMatchObject({ status: 'paused' });
  expect(await json('campaigns', 'resume', id)).toMatchObject({ status: 'running' });
  expect(await json('campaigns', 'stop', id)).toMatchObject({ status: 'stopped' });
  expect(await json('unpause')).not.toHaveProperty('dialingPausedAt');
});

test('is made of a file, over which flags win, and cancelled', async () => {
  const body = {
    name: 'File',
    agentId: 'agent_hello',
    fromNumber,
    lists: [{ id: listId, role: 'contacts' }],
    maxConcurrency: 3,
  };
  const made = await json<{ id: string }>(
    'campaigns',
    'create',
    '--data',
    await file('c.json', JSON.stringify(body)),
    '--name',
    'Flag',
  );
  expect(made).toMatchObject({ name: 'Flag', maxConcurrency: 3 });
  expect(await json('campaigns', 'cancel', made.id)).toMatchObject({ status: 'cancelled' });
  const { code, stderr } = await cli(['campaigns', 'start', made.id]);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /code +campaign_not_startable \(409\)\n +request +\w+\n +next +See why: trunkline campaigns preview/,
  );
});

test('a budget is given in calls and minutes, and one of them stays as the other changes', async () => {
  const id = await campaign('Budget', '--budget-calls', '8', '--budget-minutes', '20');
  expect(await json('campaigns', 'show', id)).toMatchObject({ budget: { maxCalls: 8, maxMinutes: 20 } });
  const changed = await json('campaigns', 'update', id, '--budget-minutes', '30');
  expect(changed).toMatchObject({ budget: { maxCalls: 8, maxMinutes: 30 }, lists: [{ id: listId }] });
});

test('what the server refuses is said with its place', async () => {
  const { code, stderr } = await cli(['campaigns', 'create', '--name', 'Nothing']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/code +invalid_request \(400\)/);
  expect(stderr).toMatch(/agentId/);
  const missing = `cmp_${'0'.repeat(32)}`;
  const gone = await cli(['campaigns', 'show', missing, '--json']);
  expect(gone.code).toBe(3);
  expect(gone.stdout).toBe('');
  expect(JSON.parse(gone.stderr).error).toMatchObject({
    code: 'not_found',
    status: 404,
    requestId: expect.any(String),
  });
});
