import type { Command } from 'commander';
import { askSecret } from '../ask.ts';
import type { Second } from '../client-types.ts';
import { Fault } from '../faults.ts';
import { addFlags, given } from '../flags.ts';
import { group } from '../group.ts';
import type { Io } from '../io.ts';

const EXAMPLE = 'twilio';

const accountFlags = {
  accountId: ['text', "the account's ID, such as AC…"],
  keyId: ['text', "an API key's ID, such as SK…"],
  addressId: ['text', 'an address for purchases'],
  bundleId: ['text', 'documents for purchases'],
} as const;

const searchFlags = { country: ['text', 'where to look, such as US'] } as const;

export function addProviders(program: Command, io: Io): void {
  const providers = group(program, io, 'providers', 'Where numbers are bought', EXAMPLE);
  providers.add({ usage: 'list', says: 'List providers', example: 'list' }, async ({ client, screen }) => {
    const { items } = await client.providers.list();
    screen.table(items, [
      ['provider', 'provider'],
      ['status', 'status'],
      ['account', 'accountId'],
    ]);
  });
  providers.one('show <provider>', 'Show a provider', (client, name = '') => client.providers.get(name));
  const save = {
    usage: 'save <provider>',
    says: 'Save your account there; asks for its secret',
    example: `save ${EXAMPLE} --account-id AC…`,
  };
  providers.send(
    save,
    accountFlags,
    (client, body: Second<'providers', 'saveAccount'>, name = '') => client.providers.saveAccount(name, body),
    // Never on the command line, where other users of the machine could read it.
    async (body, { io }) => (body['secret'] ? body : { ...body, secret: await askSecret(io, 'Secret of the account') }),
  );
  const tried = {
    usage: 'try <provider>',
    says: 'Whether numbers could be bought; buys none',
    example: `try ${EXAMPLE}`,
  };
  addFlags(
    providers.add(tried, async ({ client, screen, options }, name = '') => {
      const { status } = await client.providers.get(name);
      if (status !== 'ready') throw new Fault(`The account is not ready: ${status}.`);
      const query = { provider: name, ...given(options, searchFlags) };
      const { items } = await client.phoneNumbers.searchAvailable(query as never);
      screen.record({ status, forSale: items.length, ...(items[0] && { first: items[0].phoneNumber }) });
    }),
    searchFlags,
  );
  providers.one('delete <provider>', 'Forget your account there', (client, name = '') =>
    client.providers.deleteAccount(name),
  );
}
