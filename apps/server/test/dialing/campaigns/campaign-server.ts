import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { toId } from '../../../src/foundation/values/ids.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { seedList } from '../../seed/list.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { startTestServer } from '../../server.ts';
import { agents } from './campaign-deps.ts';

export type CreateCampaign = components['schemas']['CreateCampaignFromNumber'];
export const acts = ['start', 'pause', 'resume', 'stop', 'unschedule', 'cancel'] as const;
export type Act = (typeof acts)[number];
export const fromNumber = '+14155550100';
export const params = (id: string) => ({ params: { path: { id } } });

/**
 * A whole server whose campaigns and batches nobody dials: what they come to is what the requests made of them. It has a
 * number, a list of two `people`, and a `blocked` list of type `dnd` with the second of them.
 */
export async function startCampaignServer() {
  const server = await startTestServer({ agents, config: { maxConcurrency: 500 } });
  const { database, clock } = server;
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ id: string }>`update workspaces set dialing_paused_at = now() returning id`.execute(db),
  );
  const clientOf = async (workspace: string, permissions: string[]) => {
    const apiKey = await createKey(database, clock, { workspace, name: 'Test', permissions });
    return server.clientOf(apiKey);
  };
  const workspaceId = rows[0]!.id;
  const { client } = server;
  await seedNumber(database, workspaceId, fromNumber);
  const two = [{ phone_number: 14155550101 }, { phone_number: 14155550102 }];
  const people = toId('list', await seedList(database, workspaceId, two));
  const blocked = toId('list', await seedList(database, workspaceId, two.slice(1), { type: 'dnd' }));

  const draft = (given: Partial<CreateCampaign> = {}): CreateCampaign => ({
    name: 'November reminders',
    agentId: 'agent_reception',
    fromNumber,
    lists: [{ id: people, role: 'contacts' }],
    ...given,
  });
  const create = async (given?: Partial<CreateCampaign>) => {
    const { data, error } = await client.POST('/v1/calls/campaigns', { body: draft(given) });
    if (!data) throw new Error(JSON.stringify(error));
    return data.data;
  };
  const act = (id: string, name: Act) => client.POST(`/v1/calls/campaigns/{id}/${name}`, params(id));
  return {
    server,
    client,
    clientOf,
    database,
    workspaceId,
    people,
    blocked,
    draft,
    create,
    act,
    /** The ID of a new campaign after these acts. */
    inState: async (...names: Act[]) => {
      const { id } = await create();
      for (const name of names) {
        const { error } = await act(id, name);
        if (error) throw new Error(JSON.stringify(error));
      }
      return id;
    },
    stop: server.stop,
  };
}

export type CampaignServer = Awaited<ReturnType<typeof startCampaignServer>>;
