import type { Command } from 'commander';
import type { First } from '../client-types.ts';
import { type Client, group } from '../group.ts';
import type { Io } from '../io.ts';

export function addKeys(program: Command, io: Io): void {
  const keys = group(program, io, 'keys', 'API keys', 'key_…');
  keys.list(
    (client: Client) => client.apiKeys.list,
    [
      ['id', 'id'],
      ['name', 'name'],
      ['permissions', 'permissions'],
      ['last used', 'lastUsedAt'],
      ['expires', 'expiresAt'],
    ],
    { searchText: ['text', 'part of the name'] },
  );
  keys.send(
    {
      usage: 'create',
      says: 'Make a key; shows it, once',
      example: 'create --name CI --permissions calls:read',
    },
    {
      name: ['text', 'what it is for'],
      permissions: ['list', 'what it may do; * is everything'],
      expiresAt: ['text', 'when it ends, such as 2027-01-01T00:00:00Z'],
    },
    (client, body: First<'apiKeys', 'create'>) => client.apiKeys.create(body),
  );
  keys.one('revoke <id>', 'End a key, at once', (client, id = '') => client.apiKeys.revoke(id));
}
