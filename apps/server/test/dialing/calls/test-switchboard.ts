import { type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import { intentCallOwner } from '../../../src/dialing/call-intents/own-calls.ts';
import { waitingCalls } from '../../../src/dialing/call-intents/waiting-calls.ts';
import { callStore } from '../../../src/dialing/calls/store.ts';
import { createSwitchboard, type SwitchboardOptions } from '../../../src/dialing/calls/switchboard.ts';
import { campaignCallDetails, campaignCallOwner } from '../../../src/dialing/campaigns/own-calls.ts';
import { runCallOwner } from '../../../src/dialing/workflows/runs/signal-runs.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { CallEvent, CallGateway } from '../../../src/lines/telephony/call-gateway.ts';
import { anyAgent } from '../../../src/voices/agents/directory.ts';

const nothing = () => undefined;

/** A switchboard for at most 10 calls, without the loops of its owners, whose provider `simulator` a test plays. */
export function startTestSwitchboard(
  database: Database,
  gateway: Partial<CallGateway>,
  log: Logger = pino({ level: 'silent' }),
  given: Partial<Pick<SwitchboardOptions, 'lease' | 'leaseSeconds'>> = {},
) {
  const serverId = newUuid();
  let listener: (events: CallEvent[]) => void = nothing;
  const played: Partial<CallGateway> = {
    lookup: async () => ({ state: 'undetermined', detail: 'not asked' }),
    onInbound: () => nothing,
    onEvents: (told) => {
      listener = told;
      return nothing;
    },
    ...gateway,
  };
  const registry = new Registry();
  const common = { database, clock: systemClock, log, registry };
  const switchboard = createSwitchboard({
    ...common,
    guard: { mayPlace: async () => true, mayJudge: async () => true, doubt: () => {} },
    lease: {
      ...{ serverId: () => serverId, isHeld: () => true, leftMs: () => 1000 },
      ...{ steadySince: () => Number.NEGATIVE_INFINITY, release: async () => undefined },
    },
    leaseSeconds: 10,
    gateways: new Map([['simulator', played as CallGateway]]),
    maxCalls: 10,
    calls: callStore(campaignCallDetails, waitingCalls),
    owners: [
      runCallOwner,
      intentCallOwner(nothing),
      campaignCallOwner({ onFinished: async () => undefined, onPaused: async () => undefined }, nothing),
    ],
    agents: anyAgent,
    ask: async () => ({}),
    trunksToCall: async () => new Map(),
    ...given,
  });
  switchboard.start();
  /** Tells the switchboard what the provider tells. */
  const record = (events: CallEvent[]) => listener(events);
  return { switchboard, serverId, record };
}
