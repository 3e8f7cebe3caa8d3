import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, inject, onTestFinished, test } from 'vitest';
import { cli, client, file, json, type Options } from './cli.ts';

afterEach(() => client().workspace.resumeDialing());

test('trunks are made with a password that is on no command line, checked, changed, and used for numbers', async () => {
  const words = ['trunks', 'create', '--termination-url', 'dead.sim', '--username', 'us', '--password-stdin', '--json'];
  const made = await cli(words, { stdin: 'hush hush\n' });
  expect(made.stdout).not.toContain('hush');
  const { id, ...trunk } = JSON.parse(made.stdout);
  expect(trunk).toMatchObject({ hasPassword: true, username: 'us' });
  const check = await cli(['trunks', 'check', id]);
  expect(check.code).toBe(1);
  expect(check.stdout).toMatch(/^valid +no$/m);
  const moves = ['trunks', 'update', id, '--termination-url', 'ok.sim', '--max-channels', '5'];
  expect(await cli(moves)).toMatchObject({ code: 1, stderr: expect.stringContaining('must be given again') });
  const moved = await cli([...moves, '--password-stdin', '--json'], { stdin: 'hush hush\n' });
  expect(JSON.parse(moved.stdout)).toMatchObject({ maxChannels: 5 });
  expect(await json('trunks', 'pause', id)).toMatchObject({ status: 'paused' });
  expect((await cli(['trunks', 'list'], { columns: 60 })).stdout).toMatch(new RegExp(`${id} +paused +ok.sim`));
  await json('trunks', 'resume', id);
  expect(await json('trunks', 'show', id)).toMatchObject({ id });

  const imported = await json<{ imported: { id: string }[]; rejected: object[] }>(
    ...['numbers', 'import', '+442079460123', 'nonsense', '--trunk-id', id, '--label', 'Front'],
  );
  expect(imported.rejected).toMatchObject([{ phoneNumber: 'nonsense', code: 'invalid_number' }]);
  const number = imported.imported[0]!.id;
  expect(await json('numbers', 'update', number, '--label', 'Desk')).toMatchObject({ label: 'Desk', trunkId: id });
  expect(await json('numbers', 'show', number)).toMatchObject({ phoneNumber: '+442079460123' });
  expect(await json('numbers', 'list', '--search-text', 'Desk')).toHaveLength(1);

  const pool = await json<{ id: string }>('pools', 'create', '--name', 'West', '--phone-number-ids', number);
  expect(await json('pools', 'members', pool.id)).toMatchObject([{ id: number }]);
  expect((await cli(['pools', 'members', pool.id])).stdout).toContain('+442079460123');
  expect(await json('pools', 'check', pool.id)).toMatchObject({ valid: 1 });
  await json('pools', 'update', pool.id, '--remove-phone-number-ids', number, '--max-calls-per-number-per-day', '9');
  expect(await json('pools', 'show', pool.id)).toMatchObject({ count: 0, maxCallsPerNumberPerDay: 9 });
  expect(await json('pools', 'list')).toContainEqual(expect.objectContaining({ id: pool.id }));
  await json('pools', 'delete', pool.id);
  await json('numbers', 'release', number);
  expect(await json('trunks', 'delete', id)).toEqual({ id, deleted: true });
});

test('providers are shown, tried without a purchase, and an account is saved by what is on no command line', async () => {
  expect(await json('providers', 'list')).toMatchObject([
    { provider: 'simulator', status: 'ready' },
    { provider: 'twilio', status: 'no_account' },
  ]);
  expect(await json('providers', 'show', 'simulator')).toMatchObject({ needsAccount: false });
  expect(await json('providers', 'try', 'simulator')).toMatchObject({ status: 'ready', forSale: 100 });
  expect(await cli(['providers', 'try', 'twilio'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no_account'),
  });
  const saved = await cli(['providers', 'save', 'twilio', '--account-id', 'AC1'], { stdin: 'hush hush\n' });
  expect(saved).toMatchObject({ code: 1, stderr: expect.stringContaining('secret') });
  const other = await cli(['providers', 'save', 'twilio', '--account-id', 'AC1'], { stdin: 'hush\n' });
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('accountId') });
  expect(await cli(['providers', 'delete', 'twilio'])).toMatchObject({ code: 3 });
});

test('an agent is made of a file', async () => {
  const connection = { type: 'script', steps: [{ id: 'end', type: 'hang_up' }] };
  const line = await file('line.json', JSON.stringify({ name: 'Line', connection }));
  const made = await json<{ agent: { id: string } }>('agents', 'create', '--from', line, '--name', 'Another line');
  const { id } = (made as { agent: { id: string } }).agent;
  expect((await cli(['agents', 'list'])).stdout).toMatch(new RegExp(`^${id} +Another line +script`, 'm'));
  await json('agents', 'delete', id);
});

test('agents show their secret once, and are tested', async () => {
  const made = await cli([
    'agents',
    'create',
    '--name',
    'Ada',
    '--url',
    'ws://127.0.0.1:9/call',
    '--max-concurrent-calls',
    '3',
  ]);
  expect(made.stdout).toMatch(/^secret +\S{20,}$/m);
  const [{ id }] = (await json<{ id: string }[]>('agents', 'list', '--search-text', 'Ada')) as [{ id: string }];
  expect((await cli(['agents', 'list'])).stdout).toMatch(new RegExp(`^${id} +Ada +ws://127.0.0.1:9/call +3$`, 'm'));
  expect(await json('agents', 'update', id, '--url', 'ws://127.0.0.1:9/')).toMatchObject({
    connection: { url: 'ws://127.0.0.1:9/' },
  });
  const test = await cli(['agents', 'test', id]);
  expect(test.code).toBe(1);
  expect(test.stdout).toMatch(/^reason +refused$/m);
  expect(await json('agents', 'show', id)).toMatchObject({ name: 'Ada' });
  const { url } = await json<{ url: string }>('agents', 'talk', id);
  expect(url).toBe(`${inject('server').url}/talk?agent=${id}`);
  expect((await fetch(url)).status).toBe(200);
  expect((await cli(['agents', 'talk', 'agent_00000000000000000000000000000000'])).code).toBe(3);
  await json('agents', 'delete', id);
});

test('a sound is sent, listed and deleted', async () => {
  const wav = new URL('../../../examples/agent/sounds/confirmed.wav', import.meta.url).pathname;
  const { id, durationMs } = await json<{ id: string; durationMs: number }>('sounds', 'upload', wav);
  expect((await cli(['sounds', 'list'])).stdout).toMatch(new RegExp(`^${id} +confirmed.wav +${durationMs}$`, 'm'));
  expect(await json('sounds', 'show', id)).toHaveProperty('url');
  await json('sounds', 'delete', id);
  expect((await cli(['sounds', 'list'])).stdout).not.toContain(id);
  expect((await cli(['sounds', 'upload', '/no/such.wav'])).code).toBe(2);
  const refused = await cli(['sounds', 'upload', await file('words.wav', 'words')]);
  expect(refused.code).toBe(1);
});

test('a knowledge base takes files and is searched', async () => {
  const { id } = await json<{ id: string }>('kb', 'create', '--name', 'Clinic', '--description', 'What callers ask');
  const added = await cli(['kb', 'add', id, await file('hours.txt', 'We are closed on Sundays.')]);
  expect(added.stdout).toMatch(/^doc_\w+ +ready +hours.txt$/m);
  const found = await cli(['kb', 'search', id, 'sundays'], { columns: 60 });
  expect(found.stdout).toMatch(/^hours.txt \([\d.]+\)\n {2}We are closed on Sundays\.$/m);
  expect(await json('kb', 'search', id, 'open', 'sundays')).toMatchObject([{ fileName: 'hours.txt' }]);
  expect((await cli(['kb', 'show', id])).stdout).toMatch(/^documents\n {2}ID /m);
  expect(await json('kb', 'list')).toContainEqual(expect.objectContaining({ id, documentCount: 1 }));
  expect((await cli(['kb', 'add', id, '/no/such.pdf'])).code).toBe(2);
  await json('kb', 'delete', id);
});

test('keys are shown once, listed without, and revoked', async () => {
  const made = await json<{ id: string; key: string }>('keys', 'create', '--name', 'CI', '--permissions', 'calls:read');
  const listed = await cli(['keys', 'list']);
  expect(listed.stdout).toMatch(new RegExp(`^${made.id} +CI +calls:read`, 'm'));
  expect(listed.stdout).not.toContain(made.key);
  const forbidden = await cli(['keys', 'list'], { env: { TRUNKLINE_API_KEY: made.key } });
  expect(forbidden.code).toBe(1);
  expect(forbidden.stderr).toMatch(/code +forbidden \(403\)/);
  await json('keys', 'revoke', made.id);
  const listCalls = () => cli(['calls', 'list'], { env: { TRUNKLINE_API_KEY: made.key } });
  // The server knows a key for a moment after its end.
  await expect
    .poll(listCalls)
    .toMatchObject({ code: 1, stderr: expect.stringContaining('next     Log in with a key') });
});

test('members are invited, given other roles and removed', async () => {
  const made = await json<{ id: string }>('members', 'create', '--email', 'ada@example.com', '--role', 'manager');
  await json('members', 'update', made.id, '--role', 'viewer');
  expect((await cli(['members', 'list'])).stdout).toMatch(
    new RegExp(`^${made.id} +ada@example.com +viewer +invited`, 'm'),
  );
  expect(await json('members', 'delete', made.id)).toEqual({ id: made.id, deleted: true });
  expect((await cli(['members', 'show', made.id])).stderr).toMatch(/code +not_found \(404\)/);
});

test('the workspace is shown and changed, and dialing is paused only where somebody says yes', async () => {
  expect(
    await json('workspace', 'update', '--max-concurrent-calls', '40', '--allowed-countries', 'US,GB'),
  ).toMatchObject({
    limits: { maxConcurrentCalls: 40, allowedCountries: ['US', 'GB'] },
  });
  expect((await cli(['workspace', 'show'])).stdout).toMatch(/^limits\n( {2}.*\n)* {2}maxConcurrentCalls +40$/m);
  const set = (...flags: string[]) => json('workspace', 'update', ...flags);
  expect(await set('--trusted-numbers', '+14155550142,+14155550143')).toMatchObject({
    trustedNumbers: ['+14155550142', '+14155550143'],
  });
  expect(await set('--trusted-numbers', 'none')).not.toHaveProperty('trustedNumbers');
  const hours = { quietHours: { start: 1290, end: 480 }, quietHoursAreDefault: false };
  expect(await set('--quiet-hours', '21:30-8')).toMatchObject(hours);
  expect(await set('--quiet-hours', '21:30-0:00')).toMatchObject({ quietHours: { start: 1290, end: 1440 } });
  for (const wrong of ['night', '21:60-8:00', '21:00', '9-'])
    expect(await cli(['workspace', 'update', '--quiet-hours', wrong])).toMatchObject({ code: 2 });
  expect((await cli(['workspace', 'update', '--quiet-hours', '25:00-8:00'])).stderr).toMatch(/invalid_request/);
  expect(await set('--quiet-hours', 'none')).not.toHaveProperty('quietHours');
  const asked = await cli(['stop']);
  expect(asked.code).toBe(2);
  expect(asked.stdout).toMatch(/running\. Calls that are up go on \(\d+ now\)\. Nothing is lost: trunkline resume/);
  expect(asked.stderr).toContain('Add --yes.');
  expect(await json('workspace', 'show')).not.toHaveProperty('dialingPausedAt');
  expect((await cli(['pause', '--all', '--yes'])).stdout).toContain('trunkline resume');
  expect(await json('workspace', 'show')).toHaveProperty('dialingPausedAt');
  expect((await cli(['resume'])).stdout).toContain('goes on');
});

test('a wrong command line ends with 2, and what nobody answers with 1', async () => {
  for (const words of [
    ['lunch'],
    ['calls', 'show'],
    ['calls', 'show', ''],
    ['calls', 'list', '--limit', 'many'],
    ['calls', 'list', '--limit', '0'],
    [],
  ]) {
    const { code, stdout, stderr } = await cli(words);
    expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
    expect(stderr).not.toBe('');
  }
  const { code, stderr } = await cli(['calls', 'list'], { env: { TRUNKLINE_BASE_URL: 'http://127.0.0.1:9' } });
  expect(code).toBe(1);
  expect(stderr).toContain('Is the server running');
});

test('what is no Trunkline is told from what is not found', async () => {
  const other = createServer((_, response) => void response.writeHead(404).end('<h1>Not here</h1>'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const { code, stderr } = await cli(['workspace', 'show'], { env: { TRUNKLINE_BASE_URL: url } });
  expect(code).toBe(1);
  expect(stderr).toContain('Is the server running, and the address right?');
});

test('colors are for terminals, and for nobody who wants none', async () => {
  const colored = async (options: Options) => {
    const { stdout, stderr } = await cli(['calls', 'show', 'x'], options);
    return (stdout + stderr).includes('\u001b[');
  };
  expect(await colored({ columns: 60 })).toBe(true);
  expect(await colored({ columns: 60, env: { NO_COLOR: '1' } })).toBe(false);
  expect(await colored({ columns: 60, env: { TERM: 'dumb' } })).toBe(false);
  expect(await colored({})).toBe(false);
});
