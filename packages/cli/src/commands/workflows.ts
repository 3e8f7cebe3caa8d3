import type { Command } from 'commander';
import type { First, Second } from '../client-types.ts';
import { type Client, group } from '../group.ts';
import type { Io } from '../io.ts';

const EXAMPLE = 'wf_…';

export function addWorkflows(program: Command, io: Io): void {
  const workflows = group(program, io, 'workflows', 'Definitions that runs follow', EXAMPLE);
  workflows.list(
    (client: Client) => client.workflows.list,
    [
      ['id', 'id'],
      ['status', 'status'],
      ['name', 'name'],
      ['version', 'version'],
    ],
    { searchText: ['text', 'part of the name'] },
  );
  workflows.one('show <id>', 'Show a workflow', (client, id = '') => client.workflows.get(id));
  workflows.send(
    { usage: 'create', says: 'Make a draft', example: 'create --data reminder.json' },
    { name: ['text', 'what to call it'] },
    (client, body: First<'workflows', 'create'>) => client.workflows.create(body),
  );
  workflows.send(
    { usage: 'update <id>', says: 'Replace the draft', example: `update ${EXAMPLE} --data new.json` },
    { name: ['text', 'what to call it'] },
    (client, body: Second<'workflows', 'replaceDraft'>, id = '') => client.workflows.replaceDraft(id, body),
  );
  workflows.one('publish <id>', 'Let new runs follow the draft', (client, id = '') => client.workflows.publish(id));
  workflows.one('delete <id>', 'Delete a workflow', (client, id = '') => client.workflows.delete(id));
}
