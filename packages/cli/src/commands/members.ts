import type { Command } from 'commander';
import type { First, Second } from '../client-types.ts';
import { type Client, group } from '../group.ts';
import type { Io } from '../io.ts';

const ROLE = ['text', 'viewer, manager, developer or admin'] as const;

export function addMembers(program: Command, io: Io): void {
  const members = group(program, io, 'members', 'People who sign in, and what they may do', 'mem_…');
  members.list(
    (client: Client) => client.members.list,
    [
      ['id', 'id'],
      ['email', 'email'],
      ['role', 'role'],
      ['status', 'status'],
      ['last signed in', 'lastSignedInAt'],
    ],
    { searchText: ['text', 'part of the address'] },
  );
  members.one('show <id>', 'Show a member', (client, id = '') => client.members.get(id));
  members.send(
    { usage: 'create', says: 'Let somebody sign in', example: 'create --email a@b.example --role viewer' },
    { email: ['text', 'their address at the identity provider'], role: ROLE },
    (client, body: First<'members', 'create'>) => client.members.create(body),
  );
  members.send(
    { usage: 'update <id>', says: 'Give a member another role', example: 'update mem_… --role viewer' },
    { role: ROLE },
    (client, body: Second<'members', 'update'>, id = '') => client.members.update(id, body),
  );
  members.one('delete <id>', 'Remove a member, at once', (client, id = '') => client.members.delete(id));
}
