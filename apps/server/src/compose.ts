import type { RequestListener } from 'node:http';
import type { Router } from 'express';
import { acceptFile, beginFile } from './audience/contact-lists/accept-file.ts';
import { startContactListWork } from './audience/contact-lists/background.ts';
import { operatorAuthenticator } from './commands/operator/operator-key.ts';
import { startTellingCondition } from './commands/operator/tell-condition.ts';
import { openSockets, type Sockets, serveAgents } from './compose-agents.ts';
import { createEngine, type Engine, type Loop, startEngine } from './compose-engine.ts';
import { type Features, featuresOf } from './compose-features.ts';
import { handlersOf } from './compose-operations.ts';
import { openServices, type Parts, type Services } from './compose-services.ts';
import { startRecordingWork } from './dialing/calls/recordings/background.ts';
import { startErasingContacts } from './dialing/campaigns/erase-contacts.ts';
import { startErasingRuns } from './dialing/workflows/runs/erase-runs.ts';
import { createApp, loadContract } from './foundation/http/app.ts';
import { consoleRouter } from './foundation/http/console-router.ts';
import { createOpenStreams } from './foundation/http/open-streams.ts';
import { fileOf } from './foundation/http/slow-files.ts';
import { fileOrigin } from './foundation/objects/file-origin.ts';
import { objectsRouter } from './foundation/objects/router.ts';
import { type LoopDelay, loopFault, openLoopDelay } from './foundation/observe/loop-delay.ts';
import { startPhoneNumberTasks } from './lines/phone-numbers/tasks.ts';
import { startTrunkTasks } from './lines/trunks/tasks.ts';
import { startWebhookSender } from './platform/webhooks/sender.ts';
import { startErasing } from './records/erasures/erase-number.ts';
import { startExportWork } from './records/exports/background.ts';
import { startRetention } from './records/retention.ts';
import { startKnowledgeBaseWork } from './voices/knowledge-bases/background.ts';
import { startSoundWork } from './voices/sounds/erase-sounds.ts';
import { talkPage } from './voices/talks/page-router.ts';

/** A server put together: its HTTP side, and its loops, which `start` starts and `stop` ends with their leases given back. */
export interface Composition {
  services: Services;
  features: Features;
  engine: Engine;
  /** Its WebSockets: who talks to agents, and who listens to calls. */
  sockets: Sockets;
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
  serveAgents(parts, services, engine);
  const sockets = openSockets(parts, services);
  const { objects, gateways, keyRing, lease, jobs, notifications, outbound } = services;
  const providers = [...new Set(gateways.values())];

  const outside: { path: string; router: Router }[] = [talkPage(), consoleRouter(() => fileOrigin(objects))].map(
    (router) => ({
      path: '/',
      router,
    }),
  );
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
  const warnings = async () => [
    ...services.restoreGuard.warnings(),
    ...[parts.machine.fault() ?? [], loopFault(loopDelay?.worstMs() ?? 0) ?? []].flat(),
    ...parts.database.faults(),
    ...(await objects.faults()),
  ];
  return {
    services,
    features,
    engine,
    sockets,
    createApp: () =>
      createApp({
        contract: loadContract(),
        handlers: { ...handlersOf(parts, services, features, engine, warnings), ...overrides.handlers },
        authenticate: (key) =>
          services.callTokens.isToken(key) ? services.callTokens.open(key) : keyRing.authenticate(key),
        authenticateSession: keyRing.authenticateSession,
        authenticateOperator: config.operatorKey ? operatorAuthenticator(config.operatorKey) : undefined,
        openStream: services.streamTokens.open,
        publicUrl: parts.publicUrl,
        corsOrigins: config.corsOrigins ?? [],
        rateLimit: services.rateLimit,
        streams: createOpenStreams(services.metrics.registry),
        metrics: services.metrics,
        log,
        validateResponses: overrides.validateResponses ?? config.validateResponses,
        trustProxy: config.trustProxy,
        draining: parts.draining,
        notReady: parts.notReady,
        warnings,
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
      await startSoundWork(features.sounds);
      const { database } = parts;
      await startErasingContacts({ database, jobs });
      await startErasingRuns({ database, jobs });
      loops.push(await startExportWork({ ...features.exports, calls: engine.calls }));
      const { recordEvents, switchboard } = engine;
      loops.push(startErasing({ ...features.exports, recordEvents, requestEnd: switchboard.requestEnd }));
      loops.push(startPhoneNumberTasks(features.phoneNumbers), startTrunkTasks(features.phoneNumbers));
      loops.push(startWebhookSender(features.webhooks));
      loops.push(...startRetention(parts));
      const { draining } = parts;
      loops.push(startTellingCondition({ database, lease, warnings, draining, log }));
    },
    stop: async (requestsEnded) => {
      sockets.close();
      await Promise.all([...loops.map((loop) => loop.close()), jobs.quit(), requestsEnded]);
      // The witness is told of calls and words until then.
      await services.restoreGuard.close();
      await lease
        .release()
        .catch((error) => log.warn({ err: error }, 'the lease could not be given back; it runs out'));
      const ends = [jobs.close(), notifications.close(), keyRing.close(), outbound.close()];
      await Promise.all([...providers.map((provider) => provider.stop()), ...ends, services.sound.close()]);
    },
  };
}
