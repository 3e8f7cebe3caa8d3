import type { Command } from 'commander';
import type { First, Second } from '../client-types.ts';
import { number } from '../flags.ts';
import { type Client, group, showList } from '../group.ts';
import type { Io } from '../io.ts';

const EXAMPLE = 'pool_…';

const flags = {
  name: ['text', 'what to call it'],
  description: ['text', 'what it is for'],
  phoneNumberIds: ['list', 'the numbers in it'],
  maxCallsPerNumberPerDay: ['number', 'calls from a number a day'],
  maxConcurrentPerNumber: ['number', 'calls from a number at once'],
} as const;

export function addPools(program: Command, io: Io): void {
  const pools = group(program, io, 'pools', 'Pools of numbers to call from in turn', EXAMPLE);
  pools.list(
    (client: Client) => client.numberPools.list,
    [
      ['id', 'id'],
      ['name', 'name'],
      ['numbers', 'count'],
      ['a day', 'maxCallsPerNumberPerDay'],
    ],
    { searchText: ['text', 'part of the name'] },
  );
  pools.one('show <id>', 'Show a pool', (client, id = '') => client.numberPools.get(id));
  pools.send(
    { usage: 'create', says: 'Make a pool', example: 'create --name West --phone-number-ids pn_…' },
    flags,
    (client, body: First<'numberPools', 'create'>) => client.numberPools.create(body),
  );
  pools.send(
    { usage: 'update <id>', says: 'Change a pool', example: `update ${EXAMPLE} --name East` },
    {
      ...flags,
      addPhoneNumberIds: ['list', 'numbers to put in'],
      removePhoneNumberIds: ['list', 'numbers to take out'],
    },
    (client, body: Second<'numberPools', 'update'>, id = '') => client.numberPools.update(id, body),
  );
  pools.one('delete <id>', 'Delete a pool', (client, id = '') => client.numberPools.delete(id));
  const members = { usage: 'members <id>', says: 'The numbers of a pool', example: `members ${EXAMPLE}` };
  pools
    .add(members, async (context, id = '') => {
      await showList(context, (perPage: number) => context.client.numberPools.listMembers(id, { perPage }), [
        ['id', 'id'],
        ['number', 'phoneNumber'],
        ['reason', ({ health }) => health.reason],
        ['calls', ({ health }) => health.attempts],
        ['answered', ({ health }) => health.answered],
      ]);
    })
    .option('--limit <n>', 'how many at most', number, 50);
  pools.one('check <id>', 'Whether its trunks answer', (client, id = '') => client.numberPools.validateTrunks(id));
}
