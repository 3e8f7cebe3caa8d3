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
  expect((await cli(['search', 'whol'])).stdout).toMatch(new RegExp(`^campaign +${id} +Whole +completed$`, 'm'));
  expect(await json('search', id)).toMatchObject({ hits: [{ id, matched: 'id' }], peopleIncomplete: false });
  expect((await cli(['search', 'hole'])).stdout).toMatch(/^Nothing has this ID or number/);
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
  await expect.poll(why, { timeout: 120_000 }).toContain('trunkline resume');
  expect((await cli(['why', '+14155550100'])).stdout).toMatch(/^All dialing is stopped since 20/);
  expect(await json('campaigns', 'pause', id)).toMatchObject({ status: 'paused' });
  expect(await json('campaigns', 'resume', id)).toMatchObject({ status: 'running' });
  expect(await json('campaigns', 'stop', id)).toMatchObject({ status: 'stopped' });
  const held = (await cli(['status'])).stdout;
  expect(held).toMatch(/^All dialing in .* is stopped since 20/);
  expect(held).toContain('trunkline resume');
  expect(await json('resume')).not.toHaveProperty('dialingPausedAt');
});

test('is found by its name, by a beginning of that or of its ID, and deleted by its whole ID alone', async () => {
  const [id, other] = [await campaign('Autumn calls'), await campaign('Autumn calls again')];
  expect((await cli(['status'])).stdout).toContain('trunkline stop');
  for (const word of ['autumn calls', id, id.slice(0, -1)])
    expect(await json('campaigns', 'show', word)).toMatchObject({ id });
  expect(await json('campaigns', 'show', 'Autumn calls a')).toMatchObject({ id: other });
  const two = await cli(['campaigns', 'stop', 'Autumn']);
  expect(two.code).toBe(2);
  for (const said of ['can be each of 2 campaigns', `${id}  Autumn calls`, other]) expect(two.stderr).toContain(said);
  const none = await cli(['campaigns', 'show', 'Winter']);
  expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining('trunkline campaigns list') });
  const deleted = await cli(['campaigns', 'delete', 'Autumn calls']);
  expect(deleted).toMatchObject({ code: 2, stderr: expect.stringContaining(`trunkline campaigns delete ${id}`) });
  const named = await json<{ lists: object[] }>('campaigns', 'update', id, '--list', 'Campaigns');
  expect(named.lists).toMatchObject([{ id: listId }]);
  const begun = await cli(['campaigns', 'cancel', 'Autumn calls a']);
  expect(begun).toMatchObject({ code: 2, stderr: expect.stringContaining(`trunkline campaigns cancel ${other}`) });
  await json('campaigns', 'cancel', 'autumn calls again');
});

test('hours, tries and holidays are flags, and what can be read in two ways is refused', async () => {
  const times = ['--hours', 'mon-fri 09:00-12:30', 'sat,sun 22:00-01:00', '--retry', '15m,2h', '--callee-time-zone'];
  const id = await campaign('Times', ...times, 'campaign', '--abandoned-retry', '72h', '--holidays', '2026-12-25');
  expect(await json('campaigns', 'show', id)).toMatchObject({
    callingWindows: [
      { days: [1, 2, 3, 4, 5], start: 540, end: 750 },
      { days: [6, 7], start: 1320, end: 60 },
    ],
    calleeTimeZone: 'campaign',
    retryPolicy: [15, 120],
    abandonedRetry: { afterHours: 72 },
    holidays: ['2026-12-25'],
  });
  const none = ['--hours', 'none', '--retry', 'none', '--abandoned-retry', 'none', '--holidays', 'none'];
  const changed = await json('campaigns', 'update', 'Times', ...none);
  expect(changed).toMatchObject({ retryPolicy: [], abandonedRetry: 'none' });
  expect(changed).not.toHaveProperty('callingWindows');
  const { code, stderr } = await cli(['campaigns', 'update', id, '--hours', 'mon-fri 9:00-5:00']);
  expect(code).toBe(2);
  expect(stderr).toContain("'mon-fri 09:00-05:00', or 'mon-fri 09:00-17:00'");
});

test('why has rows that no list took, and fails for a number of which nothing is known', async () => {
  const people = await file('odd.csv', 'phone,name\n+14155550123,Ida\n+1415555018,Short\n');
  await json('lists', 'upload', people, '--name', 'Odd', '--yes');
  expect((await cli(['why', '+1415555018'])).stdout).toMatch(
    /^Row 3 of Odd \(list_\w+\) was not taken: \+1415555018\. /m,
  );
  expect((await cli(['why', '+14155550123'])).stdout).toMatch(/^No campaign or batch has this number\.$/m);
  await json('dnc', 'add', '+14155550123', '--reason', 'Asked by mail');
  expect((await cli(['why', '+14155550123'])).stdout).toMatch(
    /^\+14155550123 is on the do-not-call list since 20.*: Asked by mail\.$/m,
  );
  await json('dnc', 'remove', '+14155550123');
  const unknown = await cli(['why', '+14155550124']);
  expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('Nothing is known of +14155550124') });
  const id = await campaign('Odd', '--list', 'Odd');
  expect((await cli(['campaigns', 'why', id, '+1415555018'])).stdout).toMatch(/^Row 3 of Odd/);
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
