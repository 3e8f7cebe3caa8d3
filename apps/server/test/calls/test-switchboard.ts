import { pino } from 'pino';
import { Registry } from 'prom-client';
import { anyAgent } from '../../src/agents/directory.ts';
import { callStore } from '../../src/calls/store.ts';
import { createSwitchboard } from '../../src/calls/switchboard.ts';
import { campaignCallDetails, campaignCallOwner } from '../../src/campaigns/own-calls.ts';
import { systemClock } from '../../src/clock.ts';
import type { Database } from '../../src/database/database.ts';
import { newUuid } from '../../src/ids.ts';
import type { CallEvent, TelephonyGateway } from '../../src/telephony/gateway.ts';
import { runCallOwner } from '../../src/workflows/runs/signal-runs.ts';

const nothing = () => undefined;

/** A switchboard for at most 10 calls, without the loops of its owners, whose provider `simulator` a test plays. */
export function startTestSwitchboard(database: Database, gateway: Partial<TelephonyGateway>) {
  const serverId = newUuid();
  let listener: (events: CallEvent[]) => void = nothing;
  const played: Partial<TelephonyGateway> = {
    lookup: async () => ({ state: 'undetermined', detail: 'not asked' }),
    onInbound: () => nothing,
    onEvents: (told) => {
      listener = told;
      return nothing;
    },
    ...gateway,
  };
  const switchboard = createSwitchboard({
    database,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    lease: { serverId: () => serverId, isHeld: () => true, release: async () => undefined },
    leaseSeconds: 10,
    gateways: new Map([['simulator', played as TelephonyGateway]]),
    maxCalls: 10,
    registry: new Registry(),
    calls: callStore(campaignCallDetails),
    owners: [runCallOwner, campaignCallOwner(async () => undefined, nothing)],
    agents: anyAgent,
    ask: async () => ({}),
  });
  switchboard.start();
  /** Tells the switchboard what the provider tells. */
  const record = (events: CallEvent[]) => listener(events);
  return { switchboard, serverId, record };
}
