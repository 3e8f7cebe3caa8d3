import { pino } from 'pino';
import type { CampaignDeps } from '../../../src/dialing/campaigns/deps.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { openNotifications } from '../../../src/foundation/database/notifications.ts';
import { noOperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import type { AgentDirectory } from '../../../src/voices/agents/directory.ts';
import { freshDatabase } from '../../database.ts';
import { testClock } from '../../test-clock.ts';

const log = pino({ level: 'silent' });

/** Every agent is known but `agent_unknown`. */
export const agents: AgentDirectory = {
  resolve: async (id) => (id === 'agent_unknown' ? undefined : { id, name: id }),
};

/** What acts on campaigns need, on a database of its own. */
export async function campaignDeps(clock = testClock()) {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log });
  const notifications = openNotifications({ connection: fresh.connection, log });
  database.onTold(notifications.notify);
  const deps: CampaignDeps = {
    database,
    notifications,
    clock,
    agents,
    askAgent: async () => undefined,
    sentences: { unready: async () => 0 },
    providers: ['simulator', 'sip'],
    maxConcurrency: 500,
    operator: noOperatorLimits,
    isSimulated: (provider) => provider === 'simulator',
    nudge: () => undefined,
    guard: { tell: async () => {}, doubts: () => 0 },
  };
  const close = async () => {
    await notifications.close();
    await database.close();
    await fresh.drop();
  };
  return { ...fresh, deps, database, clock, close };
}
