import type { Features } from './compose-features.ts';
import { callOwners, campaignNews } from './compose-owners.ts';
import type { Parts, Services } from './compose-services.ts';
import { createIntentClaiming } from './dialing/call-intents/claiming.ts';
import { callEnder } from './dialing/call-intents/end-call.ts';
import { callEventRecorder } from './dialing/calls/call-events.ts';
import { createSwitchboard } from './dialing/calls/switchboard.ts';
import { createClaiming } from './dialing/campaigns/claiming.ts';
import { startDueCampaign } from './dialing/campaigns/start-campaign.ts';
import { createHandingOn } from './dialing/transfers/hand-on-calls.ts';
import { createFlows } from './dialing/workflows/runs/flows.ts';
import { createRunEngine } from './dialing/workflows/runs/run-engine.ts';
import { createRunStarter } from './dialing/workflows/runs/run-starter.ts';
import { providers } from './lines/phone-numbers/phone-number.ts';
import type { CallGateway } from './lines/telephony/call-gateway.ts';
import { trunksToCall } from './lines/trunks/trunks-to-call.ts';
import { askInboundWebhook } from './platform/webhooks/ask-inbound-webhook.ts';
import { operatorLimits } from './platform/workspace/operator-limits.ts';
import { agentAsker } from './voices/agents/test-agent.ts';

/** What a server does over and over, until it is closed. */
export interface Loop {
  close(): Promise<void>;
}

/** What places and takes calls. */
export type Engine = ReturnType<typeof createEngine>;

/** The providers of phone numbers that there are adapters for. */
export const configured = (gateways: Services['gateways']) => providers.filter((provider) => gateways.has(provider));

/** What places and takes calls, and moves campaigns and workflow runs on by itself. */
export function createEngine(
  { config, database, clock, log, overrides }: Parts,
  services: Services,
  { webhooks }: Features,
) {
  const { agents, callAgents, calls, gateways, lease, metrics, outbound, restoreGuard } = services;
  const { registry } = metrics;
  const { leaseSeconds } = config;
  const recordEvents = callEventRecorder(calls.named);
  const switchboard = createSwitchboard({
    database,
    lease,
    leaseSeconds,
    clock,
    log,
    gateways,
    maxCalls: config.maxConcurrency,
    registry,
    calls,
    owners: [
      ...callOwners({
        clock,
        claimContacts: () => claiming.nudge(),
        claimIntents: () => intentClaiming.nudge(),
      }),
      ...(overrides.owners ?? []),
    ],
    guard: restoreGuard,
    trunksToCall: trunksToCall({ database, secrets: services.secrets, log }),
    agents: callAgents,
    ask: (call) => askInboundWebhook(webhooks, call),
    maxInboundCalls: config.operatorMaxInboundCalls,
  });
  const operator = operatorLimits(config);
  const askAgent = agentAsker(services, services.inTestSlot);
  const { isSimulated } = switchboard;
  const startDue = startDueCampaign({ agents, askAgent, providers: configured(gateways), operator, isSimulated });
  const dialing = { database, lease, clock, log, switchboard, operator };
  const claiming = createClaiming({ ...dialing, startDue, ...campaignNews(clock) });
  const intentClaiming = createIntentClaiming({ ...dialing, recordEvents });
  const handingOn = createHandingOn(dialing);
  const endCall = callEnder({ database, clock, recordEvents }, switchboard.endCall);

  const flows = createFlows();
  const runEngine = createRunEngine({
    database,
    lease,
    leaseSeconds,
    clock,
    log,
    flows,
    registry,
    send: outbound.send,
    isSimulated,
    operator,
    place: switchboard.place,
    longestBlockMs: config.longestBlockHours * 3_600_000,
  });
  const startRun = createRunStarter({ database, clock, flows, engine: runEngine });
  return {
    askAgent,
    calls,
    recordEvents,
    switchboard,
    claiming,
    intentClaiming,
    handingOn,
    endCall,
    flows,
    runEngine,
    startRun,
  };
}

/** Calls that are up go on for a while, and those that are not placed are given back, when nobody claims any more. */
export function startEngine(
  { switchboard, claiming, intentClaiming, handingOn, runEngine }: Engine,
  providers: CallGateway[],
): Loop {
  switchboard.start();
  claiming.start();
  intentClaiming.start();
  handingOn.start();
  runEngine.start();
  const stopDialing = async () => {
    await Promise.all([claiming.stop(), intentClaiming.stop(), handingOn.close()]);
    await switchboard.stopPlacing();
    await Promise.all(providers.map((provider) => provider.drain?.()));
    await switchboard.stop();
  };
  return { close: async () => void (await Promise.all([stopDialing(), runEngine.stop()])) };
}
