import type { Command } from 'commander';
import type { First, Second } from '../client-types.ts';
import { addFlags, type Flags, given } from '../flags.ts';
import { type Client, group } from '../group.ts';
import type { Io } from '../io.ts';

const EXAMPLE = 'pn_…';

const searchFlags: Flags<First<'phoneNumbers', 'searchAvailable'>> = {
  provider: ['text', 'simulator, twilio or telnyx'],
  country: ['text', 'two letters, such as US'],
  type: ['text', 'local, mobile or toll_free'],
  areaCode: ['text', 'only these'],
  contains: ['text', 'digits in it'],
};

export function addNumbers(program: Command, io: Io): void {
  const numbers = group(program, io, 'numbers', 'Phone numbers', EXAMPLE);
  numbers.list(
    (client: Client) => client.phoneNumbers.list,
    [
      ['id', 'id'],
      ['number', 'phoneNumber'],
      ['status', 'status'],
      ['label', 'label'],
      ['provider', 'provider'],
      ['calls not, since', 'outboundReason'],
    ],
    { searchText: ['text', 'digits or a label'] },
  );
  numbers.one('show <id>', 'Show a number', (client, id = '') => client.phoneNumbers.get(id));
  const search = { usage: 'search', says: 'Numbers to buy', example: 'search --provider simulator --country US' };
  addFlags(
    numbers.add(search, async ({ client, screen, options }) => {
      const { items } = await client.phoneNumbers.searchAvailable(given(options, searchFlags) as never);
      screen.table(items, [
        ['number', 'phoneNumber'],
        ['country', 'country'],
        [
          'a month',
          ({ monthlyCost, currency }) => (monthlyCost === undefined ? '' : `${monthlyCost} ${currency ?? ''}`),
        ],
        ['provider', 'provider'],
      ]);
    }),
    searchFlags,
  );
  numbers.send(
    { usage: 'buy <number>', says: 'Buy a number', example: 'buy +14155550200 --provider simulator' },
    { provider: ['text', 'simulator, twilio or telnyx'] },
    (client, body: First<'phoneNumbers', 'buy'>, phoneNumber = '') => client.phoneNumbers.buy({ ...body, phoneNumber }),
  );
  numbers.send(
    {
      usage: 'import [numbers...]',
      says: 'Import numbers of your own',
      example: 'import +14155550200 --trunk-id trk_…',
    },
    {
      trunkId: ['text', 'the trunk that they come over'],
      label: ['text', 'what to call them'],
      inboundAgentId: ['text', 'the agent that answers'],
      outboundAgentId: ['text', 'the agent that calls'],
    },
    (client, body: First<'phoneNumbers', 'import'>, ...phoneNumbers) =>
      client.phoneNumbers.import(phoneNumbers.length > 0 ? { ...body, phoneNumbers } : body),
  );
  numbers.send(
    { usage: 'update <id>', says: 'Change a number', example: `update ${EXAMPLE} --label Front` },
    {
      label: ['text', 'what to call it'],
      friendlyName: ['text', 'what others see'],
      trunkId: ['text', 'the trunk that it comes over'],
      inboundAgentId: ['text', 'the agent that answers'],
      outboundAgentId: ['text', 'the agent that calls'],
      inboundWebhookUrl: ['text', 'asked who answers'],
    },
    (client, body: Second<'phoneNumbers', 'update'>, id = '') => client.phoneNumbers.update(id, body),
  );
  numbers.one('release <id>', 'Give a number back', (client, id = '') => client.phoneNumbers.release(id));
}
