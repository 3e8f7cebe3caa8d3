import type { RequestListener } from 'node:http';
import path from 'node:path';
import type { Router } from 'express';
import { acceptFile, beginFile } from './audience/contact-lists/accept-file.ts';
import { startContactListWork } from './audience/contact-lists/background.ts';
import { entryOperations } from './audience/contact-lists/entry-operations.ts';
import { contactListOperations } from './audience/contact-lists/operations.ts';
import { readPhoneNumber } from './audience/contact-lists/reading/phone-number.ts';
import { callOwners, campaignNews } from './compose-owners.ts';
import { openServices, type Parts, type Services } from './compose-services.ts';
import { batchOperations } from './dialing/batches/operations.ts';
import { createIntentClaiming } from './dialing/call-intents/claiming.ts';
import { callEnder } from './dialing/call-intents/end-call.ts';
import { callIntentOperations } from './dialing/call-intents/operations.ts';
import { callEventRecorder } from './dialing/calls/call-events.ts';
import { readNumber } from './dialing/calls/may-dial.ts';
import { callOperations } from './dialing/calls/operations.ts';
import { startRecordingWork } from './dialing/calls/recordings/background.ts';
import { createSwitchboard } from './dialing/calls/switchboard.ts';
import { callWithdrawer } from './dialing/calls/withdraw-calls.ts';
import { changeHoursOfWorkspace } from './dialing/campaigns/change-hours.ts';
import { createClaiming } from './dialing/campaigns/claiming.ts';
import { countConversions } from './dialing/campaigns/count-conversions.ts';
import { startErasingContacts } from './dialing/campaigns/erase-contacts.ts';
import { campaignOperations } from './dialing/campaigns/operations.ts';
import { campaignCallDetails } from './dialing/campaigns/own-calls.ts';
import { resumeBraked } from './dialing/campaigns/resume-braked.ts';
import { retryMachine } from './dialing/campaigns/retry-machine.ts';
import { startDueCampaign } from './dialing/campaigns/start-campaign.ts';
import { testCallOperations } from './dialing/test-calls/operations.ts';
import { workflowOperations } from './dialing/workflows/operations.ts';
import { runOperations } from './dialing/workflows/run-operations.ts';
import { startErasingRuns } from './dialing/workflows/runs/erase-runs.ts';
import { createFlows } from './dialing/workflows/runs/flows.ts';
import { createRunEngine } from './dialing/workflows/runs/run-engine.ts';
import { createRunStarter } from './dialing/workflows/runs/run-starter.ts';
import { createApp, loadContract } from './foundation/http/app.ts';
import type { Handlers } from './foundation/http/handler.ts';
import { createOpenStreams } from './foundation/http/open-streams.ts';
import { createRateLimit } from './foundation/http/rate-limit.ts';
import { fileOf } from './foundation/http/slow-files.ts';
import { objectsRouter } from './foundation/objects/router.ts';
import { type LoopDelay, loopFault, openLoopDelay } from './foundation/observe/loop-delay.ts';
import { leavePool } from './lines/number-pools/leave-pool.ts';
import { numberPoolOperations } from './lines/number-pools/operations.ts';
import { phoneNumberOperations } from './lines/phone-numbers/operations.ts';
import { providers } from './lines/phone-numbers/phone-number.ts';
import { recordTurned } from './lines/phone-numbers/record-number.ts';
import { startPhoneNumberTasks } from './lines/phone-numbers/tasks.ts';
import type { AgentConnection } from './lines/telephony/agent-connection.ts';
import type { CallGateway } from './lines/telephony/call-gateway.ts';
import { trunkOperations } from './lines/trunks/operations.ts';
import { startTrunkTasks } from './lines/trunks/tasks.ts';
import { trunksToCall } from './lines/trunks/trunks-to-call.ts';
import { apiKeyOperations } from './platform/api-keys/operations.ts';
import { doNotCallOperations } from './platform/do-not-call/operations.ts';
import { auditLogOperations } from './platform/journal/operations.ts';
import { askInboundWebhook } from './platform/webhooks/ask-inbound-webhook.ts';
import { registerWebhookMetrics } from './platform/webhooks/metrics.ts';
import { webhookOperations } from './platform/webhooks/operations.ts';
import { startWebhookSender } from './platform/webhooks/sender.ts';
import { createComingFiles } from './platform/workspace/coming-files.ts';
import { workspaceOperations } from './platform/workspace/operations.ts';
import { operatorLimits } from './platform/workspace/operator-limits.ts';
import { callStatisticsOperations } from './records/call-statistics/operations.ts';
import { startErasing } from './records/erasures/erase-number.ts';
import { erasureOperations } from './records/erasures/operations.ts';
import { startExportWork } from './records/exports/background.ts';
import { MOST_BYTES, MOST_ROWS } from './records/exports/export.ts';
import { exportOperations } from './records/exports/operations.ts';
import { startRetention } from './records/retention.ts';
import { agentOperations } from './voices/agents/operations.ts';
import { tryAgent } from './voices/agents/test-agent.ts';
import { startKnowledgeBaseWork } from './voices/knowledge-bases/background.ts';
import { knowledgeBaseOperations } from './voices/knowledge-bases/operations.ts';

/** A server put together: its HTTP side, and its loops, which `start` starts and `stop` ends with their leases given back. */
export interface Composition {
  services: Services;
  features: Features;
  engine: Engine;
  /** Its HTTP side. What only works in the background is served by nobody, and needs none. */
  createApp(): Promise<RequestListener>;
  start(): Promise<void>;
  /** @param requestsEnded resolves when no request is under way any more */
  stop(requestsEnded: Promise<unknown>): Promise<void>;
}

/** Builds everything, by hand: the only place that knows which adapter serves which port. */
export async function compose(parts: Parts): Promise<Composition> {
  const { config, log, overrides } = parts;
  const services = await openServices(parts);
  const features = featuresOf(parts, services);
  const engine = createEngine(parts, services, features);
  const { objects, gateways, keyRing, lease, jobs, notifications, outbound } = services;
  const providers = [...new Set(gateways.values())];

  const outside: { path: string; router: Router }[] = [];
  if ('grantOf' in objects) {
    const { contactLists } = features;
    const judge = {
      begin: (key: string) => beginFile(contactLists, key),
      onStored: (key: string) => acceptFile(contactLists, key),
      read: fileOf,
    };
    outside.push({ path: '/', router: objectsRouter(objects, judge) });
  }
  const loops: Loop[] = [];
  let loopDelay: LoopDelay | undefined;
  return {
    services,
    features,
    engine,
    createApp: () =>
      createApp({
        contract: loadContract(),
        handlers: { ...handlersOf(parts, services, features, engine), ...overrides.handlers },
        authenticate: (key) =>
          services.callTokens.isToken(key) ? services.callTokens.open(key) : keyRing.authenticate(key),
        openStream: services.streamTokens.open,
        corsOrigins: config.corsOrigins ?? [],
        rateLimit: createRateLimit({
          key: config.rateLimitPerMinute,
          workspace: config.workspaceRateLimitPerMinute ?? 5 * config.rateLimitPerMinute,
        }),
        streams: createOpenStreams(services.metrics.registry),
        metrics: services.metrics,
        log,
        validateResponses: overrides.validateResponses ?? config.validateResponses,
        trustProxy: config.trustProxy,
        draining: parts.draining,
        notReady: parts.notReady,
        warnings: async () => [
          ...services.restoreGuard.warnings(),
          ...[parts.machine.fault() ?? [], loopFault(loopDelay?.worstMs() ?? 0) ?? []].flat(),
          ...parts.database.faults(),
          ...(await objects.faults()),
        ],
        outside,
        onChange: services.tellOfChange,
        ...(overrides.onAnswer && { onAnswer: overrides.onAnswer }),
      }),
    start: async () => {
      loopDelay = overrides.loopDelay ?? openLoopDelay();
      loops.push({ close: async () => loopDelay?.close() });
      for (const provider of providers) await provider.start();
      await services.restoreGuard.start();
      const recording = await startRecordingWork({ ...features.recordings, calls: engine.calls });
      const calling = startEngine(engine, providers);
      // Calls are recorded until the drain is over.
      loops.push({ close: () => calling.close().finally(() => recording.close()) });
      loops.push(await startContactListWork(features.contactLists));
      loops.push(await startKnowledgeBaseWork(features.knowledgeBases));
      const { database } = parts;
      await startErasingContacts({ database, jobs });
      await startErasingRuns({ database, jobs });
      loops.push(await startExportWork({ ...features.exports, calls: engine.calls }));
      const { recordEvents, switchboard } = engine;
      loops.push(startErasing({ ...features.exports, recordEvents, requestEnd: switchboard.requestEnd }));
      loops.push(startPhoneNumberTasks(features.phoneNumbers), startTrunkTasks(features.phoneNumbers));
      loops.push(startWebhookSender(features.webhooks));
      loops.push(...startRetention(parts));
    },
    stop: async (requestsEnded) => {
      await Promise.all([...loops.map((loop) => loop.close()), jobs.quit(), requestsEnded]);
      // The witness is told of calls and words until then.
      await services.restoreGuard.close();
      await lease
        .release()
        .catch((error) => log.warn({ err: error }, 'the lease could not be given back; it runs out'));
      const ends = [jobs.close(), notifications.close(), keyRing.close(), outbound.close()];
      await Promise.all([...providers.map((provider) => provider.stop()), ...ends]);
    },
  };
}

/** What a server does over and over, until it is closed. */
interface Loop {
  close(): Promise<void>;
}

type Features = ReturnType<typeof featuresOf>;
type Engine = ReturnType<typeof createEngine>;

/** What the acts and the loops of features work with. */
function featuresOf({ config, database, clock, log }: Parts, services: Services) {
  const { agents, guard, jobs, lease, metrics, notifications, objects, outbound, secrets, trunkGuard } = services;
  const limits = {
    maxRows: config.uploadMaxRows,
    maxBytes: config.uploadMaxBytes,
    maxColumns: config.uploadMaxColumns,
    maxRowLength: config.uploadMaxRowBytes,
  };
  const { storageMaxBytes } = config;
  const coming = createComingFiles(metrics.registry);
  const common = { database, clock, log, secrets };
  return {
    contactLists: {
      ...{ database, notifications, jobs, objects, clock, log, limits, coming, storageMaxBytes },
      guard: services.restoreGuard,
    },
    recordings: {
      database,
      objects,
      clock,
      log,
      directory: path.join(config.dataDir, 'recordings'),
      retentionDays: config.recordingRetentionDays,
      storageMaxBytes,
    },
    knowledgeBases: {
      ...{ database, jobs, objects, clock, log, maxBytes: config.documentMaxBytes, coming, storageMaxBytes },
      basesOfCall: services.callTokens.basesOf,
    },
    exports: { database, jobs, objects, clock, log, mostRows: MOST_ROWS, mostBytes: MOST_BYTES },
    phoneNumbers: {
      ...common,
      ...{ agents, guard, trunkGuard, markets: services.markets, prober: services.prober },
      onReleased: leavePool,
      onTurned: recordTurned,
    },
    webhooks: { ...common, lease, guard, send: outbound.send, metrics: registerWebhookMetrics(metrics.registry) },
  };
}

/** The providers of phone numbers that there are adapters for. */
const configured = (gateways: Services['gateways']) => providers.filter((provider) => gateways.has(provider));

/** What places and takes calls, and moves campaigns and workflow runs on by itself. */
function createEngine({ config, database, clock, log, overrides }: Parts, services: Services, { webhooks }: Features) {
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
  const startDue = startDueCampaign(agents, configured(gateways));
  const operator = operatorLimits(config);
  const dialing = { database, lease, clock, log, switchboard, operator };
  const claiming = createClaiming({ ...dialing, startDue, ...campaignNews(clock) });
  const intentClaiming = createIntentClaiming({ ...dialing, recordEvents });
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
    isSimulated: switchboard.isSimulated,
    operator,
    place: switchboard.place,
    longestBlockMs: config.longestBlockHours * 3_600_000,
  });
  const startRun = createRunStarter({ database, clock, flows, engine: runEngine });
  return { calls, recordEvents, switchboard, claiming, intentClaiming, endCall, flows, runEngine, startRun };
}

/** Calls that are up go on for a while, and those that are not placed are given back, when nobody claims any more. */
function startEngine({ switchboard, claiming, intentClaiming, runEngine }: Engine, providers: CallGateway[]): Loop {
  switchboard.start();
  claiming.start();
  intentClaiming.start();
  runEngine.start();
  const stopDialing = async () => {
    await Promise.all([claiming.stop(), intentClaiming.stop()]);
    await switchboard.stopPlacing();
    await Promise.all(providers.map((provider) => provider.drain?.()));
    await switchboard.stop();
  };
  return { close: async () => void (await Promise.all([stopDialing(), runEngine.stop()])) };
}

function handlersOf(
  { config, database, clock }: Parts,
  services: Services,
  features: Features,
  engine: Engine,
): Handlers {
  const { agents, guard, inTestSlot, notifications, objects, secrets } = services;
  const { contactLists, knowledgeBases, phoneNumbers, webhooks } = features;
  const { calls, switchboard, claiming, intentClaiming, endCall, flows, runEngine, startRun } = engine;
  const { requestEnd, nudgeHangUps } = switchboard;
  const withdrawCallsTo = callWithdrawer({ database, clock, nudgeHangUps });
  const { maxConcurrency } = config;
  const providers = configured(services.gateways);
  const operator = operatorLimits(config);
  const { isSimulated } = switchboard;
  const isNumber = (phoneNumber: string) => readNumber(phoneNumber) !== undefined;
  const shared = { database, agents, clock, providers, operator, isSimulated };
  const { restoreGuard } = services;
  const askAgent = (workspaceId: string, connection: AgentConnection) =>
    inTestSlot(workspaceId, async () => {
      const { reachable, message } = await tryAgent(guard, workspaceId, connection);
      return reachable ? undefined : message;
    });
  const campaigns = { ...shared, askAgent, notifications, maxConcurrency, nudge: claiming.nudge, guard: restoreGuard };
  const { nudge } = runEngine;
  return {
    ...phoneNumberOperations(phoneNumbers),
    ...testCallOperations({ ...shared, lease: services.lease, switchboard }),
    ...trunkOperations(phoneNumbers),
    ...numberPoolOperations(phoneNumbers),
    ...contactListOperations(contactLists),
    ...entryOperations(contactLists),
    ...doNotCallOperations({ database, clock, withdrawCallsTo, guard: restoreGuard, readPhoneNumber }),
    ...campaignOperations({ ...campaigns, jobs: services.jobs }),
    ...batchOperations({ ...campaigns, jobs: services.jobs }),
    ...knowledgeBaseOperations(knowledgeBases),
    ...runOperations({ database, clock, notifications, flows, startRun, nudge, requestEnd, nudgeHangUps }),
    ...callIntentOperations({ ...shared, calls, nudge: intentClaiming.nudge }),
    ...callOperations({
      database,
      clock,
      calls,
      objects,
      countConversions,
      retryMachine,
      endCall,
      withdrawCallsTo,
      guard: restoreGuard,
    }),
    ...callStatisticsOperations({ database, clock, isBatch: campaignCallDetails.isBatch }),
    ...exportOperations({ ...features.exports, calls }),
    ...erasureOperations({ database, clock }),
    ...workflowOperations({ database, agents, clock, jobs: services.jobs }),
    ...workspaceOperations({
      database,
      clock,
      secrets,
      restoreGuard,
      onHoursChanged: changeHoursOfWorkspace,
      isNumber,
    }),
    ...apiKeyOperations({ database, clock, streamTokens: services.streamTokens }),
    ...auditLogOperations(database),
    ...agentOperations({ database, clock, secrets, guard, inTestSlot, onOpened: resumeBraked }),
    ...webhookOperations({ ...webhooks, inTestSlot }),
  };
}
