import type { Logger } from 'pino';
import {
  engineFinder,
  openAgents,
  openCarriers,
  openObjects,
  openWitnesses,
  operatorModelOf,
  type SimulatorOverrides,
  soundOfCalls,
} from './compose-adapters.ts';
import type { Config } from './config.ts';
import { waitingCalls } from './dialing/call-intents/waiting-calls.ts';
import { createAgentBriefing } from './dialing/calls/brief-agent.ts';
import type { CallOwner } from './dialing/calls/call-owner.ts';
import { createCallTokens } from './dialing/calls/call-tokens.ts';
import { callStore } from './dialing/calls/store.ts';
import { campaignCallDetails } from './dialing/campaigns/own-calls.ts';
import { fillWhatIs } from './dialing/workflows/definitions/fill-template.ts';
import type { Database } from './foundation/database/database.ts';
import { openLease } from './foundation/database/lease.ts';
import { registerLeaseMetrics } from './foundation/database/metrics.ts';
import { openNotifications } from './foundation/database/notifications.ts';
import { createSecrets, loadEncryptionKeys } from './foundation/database/secrets.ts';
import type { AppOptions } from './foundation/http/app.ts';
import type { Handlers, OperationId } from './foundation/http/handler.ts';
import type { NotReady } from './foundation/http/outside.ts';
import { createRateLimit } from './foundation/http/rate-limit.ts';
import type { ObjectStore } from './foundation/objects/object-store.ts';
import type { LoopDelay } from './foundation/observe/loop-delay.ts';
import { measureSlots } from './foundation/observe/slot-metrics.ts';
import { createOutboundHttp, type SendRequest } from './foundation/outbound-http/guarded-request.ts';
import { openGuards } from './foundation/outbound-http/open-guards.ts';
import { createTestSlots } from './foundation/outbound-http/test-slots.ts';
import type { Clock, MachineClock } from './foundation/values/clock.ts';
import { AgentDesk } from './lines/conversation/agent-desk.ts';
import { localTimeText } from './lines/phone-numbers/local-time-text.ts';
import { type Carriers, portsOf } from './lines/telephony/carrier.ts';
import { createKeyRing } from './platform/api-keys/key-ring.ts';
import { createStreamTokens } from './platform/api-keys/stream-tokens.ts';
import { readInstallation } from './platform/installation/installation.ts';
import { createRestoreGuard } from './platform/installation/restore-guard.ts';
import { anyJob, openJobs } from './platform/jobs/jobs.ts';
import { Quiet, type QuietLimits } from './platform/jobs/quiet.ts';
import { feedsOf } from './platform/journal/feeds.ts';
import { openMetrics } from './platform/metrics/open-metrics.ts';
import type { AgentDirectory } from './voices/agents/directory.ts';
import { agentsOfCalls, keptAgents } from './voices/agents/kept-agents.ts';
import { withLimitsKept } from './voices/agents/limits-elsewhere.ts';
import { usingOperatorKey } from './voices/agents/operator-model.ts';
import { createSentences } from './voices/speech/sentences.ts';

/** They fetch jobs and note their ends, which takes milliseconds. */
const MOST_JOB_CONNECTIONS = 4;

/** What tests put in place of the server's own. */
export interface Overrides extends SimulatorOverrides {
  handlers?: Partial<Handlers>;
  validateResponses?: AppOptions['validateResponses'];
  onAnswer?: (operationId: OperationId, status: number) => void;
  /** What the machine's clock reads, in milliseconds since the epoch. */
  machineTime?: () => number;
  /** Instead of the simulator and SIP. They are started and stopped with the server. */
  carriers?: Carriers;
  /** Owners of calls beside the server's own. */
  owners?: readonly CallOwner[];
  /** Addresses of name servers, instead of those of the machine. */
  nameServers?: readonly string[];
  agents?: AgentDirectory;
  /** What stands before the store of files. */
  objects?: <Store extends ObjectStore>(store: Store) => Store;
  /** What answers in the place of providers of numbers. */
  sendToProviders?: SendRequest;
  /** When loops sleep. */
  quiet?: QuietLimits;
  /** How late the event loop has been. */
  loopDelay?: LoopDelay;
}

export interface Parts {
  config: Config;
  database: Database;
  clock: Clock;
  machine: MachineClock;
  log: Logger;
  /** Where clients reach this server, for links. */
  publicUrl: string;
  draining: AbortSignal;
  notReady: NotReady;
  overrides: Overrides;
}

const JOURNAL_BESIDE_DATABASE =
  'whom this server calls is told to a journal in DATA_DIR, with the database: whoever restores that folder restores both; set WITNESS_PATH';

/** What `openServices` opens. */
export type Services = Awaited<ReturnType<typeof openServices>>;

/** The ports' adapters, and what all features share. */
export async function openServices(parts: Parts) {
  const { config, database, clock, machine, log, overrides } = parts;
  // Before anything that would be left running: these fail where a setting is wrong.
  const keys = await loadEncryptionKeys(config);
  const ownObjects = await openObjects(parts, keys);
  const objects = overrides.objects?.(ownObjects) ?? ownObjects;
  const secrets = createSecrets(...keys);
  const elsewhere = withLimitsKept(database, overrides.agents ?? (await openAgents(config, clock)));
  const operatorModel = operatorModelOf(config);
  const agents = usingOperatorKey(keptAgents(database, secrets, elsewhere), operatorModel);
  const calls = callStore(campaignCallDetails, waitingCalls);
  const callTokens = createCallTokens({ database, secrets, clock, agents });
  const callAgents = usingOperatorKey(agentsOfCalls(database, secrets, elsewhere, log), operatorModel);
  const metrics = openMetrics(parts);
  const quiet = new Quiet({ database, clock, limits: overrides.quiet });
  const notifications = openNotifications({ connection: database.connection, log, ear: quiet });
  database.onTold(notifications.notify);
  measureSlots(metrics.registry, 'database_connections', database.slots);
  measureSlots(metrics.registry, 'event_stream_reads', feedsOf(database).slots);
  const { nameServers } = overrides;
  const { guard, trunkGuard } = openGuards(config, metrics.registry, nameServers);
  const outbound = createOutboundHttp(guard);
  const lease = await openLease({ database, seconds: config.leaseSeconds, log, machine, url: config.serverUrl });
  registerLeaseMetrics(metrics.registry, lease);
  const { registry } = metrics;
  const { id } = await database.inEngine(readInstallation);
  const witnesses = await openWitnesses(config, id, objects);
  if (witnesses.isJournal && !config.databaseUrl) log.info(JOURNAL_BESIDE_DATABASE);
  const restoreGuard = createRestoreGuard({
    ...{ database, lease, witnesses, clock, log, registry },
    keepDays: config.witnessDays,
    numberKey: database.numberKey!,
  });
  database.onDoubt(restoreGuard.doubt);
  const desk = new AgentDesk();
  const sound = soundOfCalls(parts, registry);
  const { storageMaxBytes } = config;
  const sentences = createSentences({
    database,
    objects,
    clock,
    log,
    storageMaxBytes,
    findEngine: engineFinder(config),
  });
  const words = { fill: fillWhatIs, localTime: (number: string | undefined) => localTimeText(clock.now(), number) };
  const sip = {
    ...{ config, database, clock, log, lease, registry, trunkGuard, nameServers, keys, restoreGuard },
    agents: callAgents,
    desk,
    sound,
    words,
    send: overrides.sendToProviders ?? outbound.send,
    brief: createAgentBriefing({ database, calls, tokens: callTokens, apiUrl: parts.publicUrl }),
  };
  const carriers = overrides.carriers ?? (await openCarriers(sip, overrides));
  const keyRing = createKeyRing({ database, clock, log });
  return {
    secrets,
    objects,
    agents,
    callAgents,
    metrics,
    notifications,
    /** Has the loops of all servers look for work that a request may have made. */
    tellOfChange: () => {
      if (quiet.needsWord()) notifications.notify('change');
    },
    guard,
    trunkGuard,
    restoreGuard,
    outbound,
    inTestSlot: createTestSlots(registry),
    gateways: portsOf(carriers, 'calls'),
    markets: portsOf(carriers, 'numbers'),
    accountProviders: portsOf(carriers, 'accounts'),
    /** The first that can ask trunks. */
    prober: portsOf(carriers, 'trunks').values().next().value,
    keyRing,
    rateLimit: createRateLimit({
      key: config.rateLimitPerMinute,
      workspace: config.workspaceRateLimitPerMinute ?? 5 * config.rateLimitPerMinute,
    }),
    streamTokens: createStreamTokens({ secrets, keyRing, clock }),
    callTokens,
    calls,
    desk,
    sound,
    words,
    sentences,
    jobs: await openJobs({
      connection: database.connection,
      connections: Math.min(Math.ceil(config.poolSize / 4), MOST_JOB_CONNECTIONS),
      ...{ log, registry, asleep: quiet.add(anyJob) },
    }),
    lease,
  };
}
