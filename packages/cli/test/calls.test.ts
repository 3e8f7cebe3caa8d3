import { beforeAll, expect, test } from 'vitest';
import { cli, file, json, start } from './cli.ts';

let fromNumber = '';

beforeAll(async () => {
  const [first] = await json<{ phoneNumber: string }[]>(
    'numbers',
    'search',
    '--provider',
    'simulator',
    '--area-code',
    '212',
  );
  fromNumber = first!.phoneNumber;
  await json('numbers', 'buy', fromNumber, '--provider', 'simulator');
});

const place = (to: string, ...flags: string[]) =>
  json<{ roomId: string }>('calls', 'place', to, '--agent-id', 'agent_hello', '--from-number', fromNumber, ...flags);

test('a call is placed, followed and shown', async () => {
  const { roomId } = await place('+14155550100', '--tags', 'one');
  const followed = await cli(['calls', 'follow', roomId]);
  expect(followed.stderr).toBe('');
  expect(followed.code).toBe(0);
  expect(followed.stdout).toMatch(/Z {2}completed\n$/);
  expect(await json('calls', 'show', roomId)).toMatchObject({ roomId, outcome: 'answered' });
  expect(await json('calls', 'list', '--tag', 'one')).toMatchObject([{ roomId }]);
  expect((await cli(['calls', 'list', '--tag', 'one'])).stdout).toMatch(
    new RegExp(`^${roomId} +answered +\\+14155550100 `, 'm'),
  );
});

test('one that is not answered ends the follower with 1', async () => {
  const { roomId } = await place('+14155550186');
  const { code, stderr } = await cli(['calls', 'follow', roomId, '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stderr).error.message).toBe('The call was not answered: busy.');
});

test('one that waits says why, is left by Ctrl-C, and is ended', async () => {
  const { roomId } = await place('+14155550100', '--scheduled-at', new Date(Date.now() + 3_600_000).toISOString());
  const following = start(['calls', 'follow', roomId]);
  await expect.poll(following.stdout).toMatch(/queued/);
  following.interrupt();
  const { code, stderr } = await following.ended;
  expect(code).toBe(130);
  expect(stderr).toContain(`The call goes on; hang up: trunkline calls end ${roomId}`);
  expect(await json('calls', 'end', roomId)).toMatchObject({ status: 'cancelled' });
});

test('keys are pressed in a call that is up, and not in one that has ended', async () => {
  const { roomId } = await place('+14155550100');
  await cli(['calls', 'follow', roomId]);
  const { code, stderr } = await cli(['calls', 'dtmf', roomId, '1w2']);
  expect(code).toBe(1);
  expect(stderr).toContain('The call has ended already.');
  const handedOn = await cli(['calls', 'transfer', roomId, '+14155550199']);
  expect(handedOn.code).toBe(1);
  expect(handedOn.stderr).toContain('The call has ended already.');
});

test('a batch of a CSV file: who is left out, and what became of each', async () => {
  const people = await file('people.csv', 'Phone,Name,External ID,city\n+14155550100,Ada,7,London\n12,Nobody,8,\n');
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const flags = ['--agent-id', 'agent_hello', '--from-number', fromNumber];
  const { code, stdout } = await cli(['batches', 'create', people, ...flags, '--scheduled-at', later]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/1 recipient left out\nROW +NUMBER +WHY\n2 +12 +\S/);
  const [, id = ''] = /^(\S+) is scheduled: 1 recipient\./.exec(stdout) ?? [];
  expect(await json('batches', 'recipients', id)).toMatchObject([
    { accepted: true, externalId: '7', phoneNumber: '+14155550100' },
    { accepted: false, externalId: '8' },
  ]);
  expect((await cli(['batches', 'recipients', id])).stdout).toMatch(/^12 +rejected +invalid_number/m);
  expect(await json('batches', 'show', id)).toMatchObject({ acceptedCount: 1 });
  expect((await json<{ batchId: string }[]>('batches', 'list'))[0]).toMatchObject({ batchId: id });
  expect(await json('batches', 'cancel', id)).toMatchObject({ status: 'cancelled' });
  expect(await json('batches', 'delete', id)).toMatchObject({ deleted: true });
});

test('a batch of a JSON file is paused and resumed', async () => {
  await json('pause', '--yes');
  const people = await file('people.json', JSON.stringify([{ phoneNumber: '+14155550100' }]));
  const { batchId } = await json<{ batchId: string }>(
    ...['batches', 'create', people, '--agent-id', 'agent_hello', '--from-number', fromNumber],
  );
  expect(await json('batches', 'pause', batchId)).toMatchObject({ status: 'paused' });
  expect(await json('batches', 'resume', batchId)).toMatchObject({ status: 'running' });
  await json('batches', 'cancel', batchId);
  await json('unpause');
});
