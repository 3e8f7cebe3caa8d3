import { ConflictError } from '@trunkline/client';
import { definitionOf, end, set, wait } from '../../dialing/workflows/nodes.ts';
import { limits, MAX_CALL_SECONDS } from '../limits.ts';
import type { World } from '../world.ts';
import type { Clients } from './client-record.ts';

/** What all load needs: an agent, numbers, a workflow, a webhook, people who must not be called. */
export interface Setting extends Pick<World, 'carrier' | 'servers'> {
  agentId: string;
  /** A number of the simulator's, and one over SIP. */
  simulated: string;
  overSip: string;
  workflowId: string;
  /** Digits of numbers on the do-not-call list. */
  refused: number[];
}

const SIMULATED = '+14155550300';
const OVER_SIP = '+14155550301';
const REFUSED = [14_158_000_001, 14_158_000_002, 14_158_000_003];

/** Makes it, before anything goes wrong. */
export async function makeSetting(world: World, clients: Clients): Promise<Setting> {
  const { insist } = clients;
  const connection = { type: 'stream' as const, url: world.agent.url };
  const { agent } = await insist('createAgent', (client) =>
    client.agents.create({ name: 'Anna', connection, maxCallSeconds: MAX_CALL_SECONDS }),
  );
  await insist('updateWorkspace', (client) =>
    client.workspace.update({ limits: { maxConcurrentCalls: limits.workspaceCalls }, quietHours: null }),
  );
  await insist('buyPhoneNumber', (client) =>
    client.phoneNumbers.buy({ phoneNumber: SIMULATED, provider: 'simulator' }),
  );
  const trunk = await insist('createTrunk', (client) =>
    client.trunks.create({
      terminationUrl: world.carrierAddress,
      maxChannels: limits.trunkChannels,
      callsPerSecond: limits.trunkCallsPerSecond,
    }),
  );
  await insist('importPhoneNumbers', (client) =>
    client.phoneNumbers.import({ phoneNumbers: [OVER_SIP], trunkId: trunk.id, inboundAgentId: agent.id }),
  );
  await insist('addDoNotCall', (client) =>
    client.doNotCall.add({ phoneNumbers: REFUSED.map((number) => `+${number}`) }),
  );
  const families = ['call.*', 'campaign.*', 'batch.*', 'workflow_run.*', 'upload.*', 'knowledge_base.*'] as const;
  await insist('createWebhook', (client) =>
    client.webhooks.create({ url: world.endpoints.hookUrl, eventTypes: [...families] }),
  );
  const childId = await publish(clients, childDefinition);
  const workflowId = await publish(clients, definition(world.endpoints.webUrl, childId, agent.id));
  const { carrier, servers } = world;
  return { agentId: agent.id, simulated: SIMULATED, overSip: OVER_SIP, workflowId, refused: REFUSED, carrier, servers };
}

async function publish({ insist }: Clients, made: ReturnType<typeof definitionOf>): Promise<string> {
  const { id } = await insist('createWorkflow', (client) => client.workflows.create(made as never));
  await insist('publishWorkflow', async (client) => {
    // The number may still be on its way.
    await client.workflows.publish(id).catch((error) => {
      if (!(error instanceof ConflictError)) throw error;
    });
  });
  return id;
}

const childDefinition = definitionOf([
  set('one', { a: 1 }, 'two'),
  wait('two', 1, 'out'),
  end('out', { output: { person: '{{person}}' } }),
]);

/** A run of it does what can be counted outside: a request, a call, a child. */
const definition = (url: string, childId: string, agentId: string) =>
  definitionOf([
    {
      ...{ id: 'look', type: 'http', title: 'Look up', method: 'POST', url, body: { person: '{{person}}' } },
      ...{ retries: 10, saveAs: 'crm', next: 'ring' },
    },
    {
      ...{ id: 'ring', type: 'call', title: 'Ring', agentId, fromNumber: SIMULATED, ringTimeoutSeconds: 10 },
      ...{ to: '{{phone_number}}', next: 'later' },
    },
    wait('later', 1, 'child'),
    {
      ...{ id: 'child', type: 'workflow', title: 'Child', workflowId: childId },
      ...{ context: { person: '{{person}}' }, saveAs: 'below', next: 'done' },
    },
    end('done', { output: { person: '{{person}}', outcome: '{{call.outcome}}' } }),
  ] as Parameters<typeof definitionOf>[0]);
