import { entryOperations } from './audience/contact-lists/entry-operations.ts';
import { contactListOperations } from './audience/contact-lists/operations.ts';
import { readPhoneNumber } from './audience/contact-lists/reading/phone-number.ts';
import { operatorOperations } from './commands/operator/operations.ts';
import { operatorModelOf, templateFault } from './compose-adapters.ts';
import { callResultsOf } from './compose-agents.ts';
import { configured, type Engine } from './compose-engine.ts';
import type { Features } from './compose-features.ts';
import type { Parts, Services } from './compose-services.ts';
import { batchOperations } from './dialing/batches/operations.ts';
import { callIntentOperations } from './dialing/call-intents/operations.ts';
import { readNumber } from './dialing/calls/may-dial.ts';
import { callOperations } from './dialing/calls/operations.ts';
import { changeHoursOfWorkspace } from './dialing/campaigns/change-hours.ts';
import { campaignOperations } from './dialing/campaigns/operations.ts';
import { campaignCallDetails } from './dialing/campaigns/own-calls.ts';
import { resumeBraked } from './dialing/campaigns/resume-braked.ts';
import { testCallOperations } from './dialing/test-calls/operations.ts';
import { transferOperations } from './dialing/transfers/operations.ts';
import { workflowOperations } from './dialing/workflows/operations.ts';
import { runOperations } from './dialing/workflows/run-operations.ts';
import type { Handlers } from './foundation/http/handler.ts';
import { takesUpgrades } from './foundation/http/listen.ts';
import type { Warnings } from './foundation/http/outside.ts';
import { numberPoolOperations } from './lines/number-pools/operations.ts';
import { phoneNumberOperations } from './lines/phone-numbers/operations.ts';
import { providerOperations } from './lines/providers/operations.ts';
import { trunkOperations } from './lines/trunks/operations.ts';
import { apiKeyOperations } from './platform/api-keys/operations.ts';
import { doNotCallOperations } from './platform/do-not-call/operations.ts';
import { feedOperations } from './platform/journal/feed-operations.ts';
import { auditLogOperations } from './platform/journal/operations.ts';
import { memberOperations } from './platform/members/operations.ts';
import { openIdentityProvider } from './platform/sign-in/identity-provider.ts';
import { sessionOperations } from './platform/sign-in/operations.ts';
import { webhookOperations } from './platform/webhooks/operations.ts';
import { workspaceOperations } from './platform/workspace/operations.ts';
import { operatorLimits } from './platform/workspace/operator-limits.ts';
import { callStatsOperations } from './records/call-statistics/operations.ts';
import { erasureOperations } from './records/erasures/operations.ts';
import { exportOperations } from './records/exports/operations.ts';
import { peopleOperations } from './records/people/operations.ts';
import { searchOperations } from './records/search/operations.ts';
import { agentOperations } from './voices/agents/operations.ts';
import { knowledgeBaseOperations } from './voices/knowledge-bases/operations.ts';
import { soundOperations } from './voices/sounds/operations.ts';
import { talkOperations } from './voices/talks/operations.ts';

/** Each operation of the contract, with what it works with. */
export function handlersOf(
  parts: Parts,
  services: Services,
  features: Features,
  engine: Engine,
  warnings: Warnings,
): Handlers {
  const { config, database, clock } = parts;
  const { agents, guard, inTestSlot, notifications, objects, secrets } = services;
  const { contactLists, knowledgeBases, phoneNumbers, webhooks } = features;
  const { askAgent, calls, switchboard, claiming, intentClaiming, handingOn, endCall, flows, runEngine, startRun } =
    engine;
  const { requestEnd, nudgeHangUps, digits } = switchboard;
  const { maxConcurrency } = config;
  const providers = configured(services.gateways);
  const operator = operatorLimits(config);
  const { isSimulated } = switchboard;
  const isNumber = (phoneNumber: string) => readNumber(phoneNumber) !== undefined;
  const shared = { database, agents, clock, providers, operator, isSimulated };
  const { restoreGuard } = services;
  const campaigns = {
    ...{ ...shared, askAgent, notifications, maxConcurrency, nudge: claiming.nudge, guard: restoreGuard },
    sentences: services.sentences,
  };
  const { nudge } = runEngine;
  const results = callResultsOf(parts, services, engine);
  const { withdrawCallsTo } = results;
  return {
    ...phoneNumberOperations(phoneNumbers),
    ...testCallOperations({ ...shared, lease: services.lease, switchboard }),
    ...trunkOperations(phoneNumbers),
    ...providerOperations(phoneNumbers),
    ...numberPoolOperations(phoneNumbers),
    ...contactListOperations(contactLists),
    ...entryOperations(contactLists),
    ...doNotCallOperations({ database, clock, withdrawCallsTo, guard: restoreGuard, readPhoneNumber }),
    ...campaignOperations({ ...campaigns, jobs: services.jobs, secrets }),
    ...batchOperations({ ...campaigns, jobs: services.jobs }),
    ...knowledgeBaseOperations(knowledgeBases),
    ...soundOperations(features.sounds),
    ...runOperations({ database, clock, notifications, flows, startRun, nudge, requestEnd, nudgeHangUps }),
    ...transferOperations({ database, clock, calls, nudge: handingOn.nudge }),
    ...callIntentOperations({ ...shared, calls, nudge: intentClaiming.nudge }),
    ...callOperations({
      ...{ ...results, calls, secrets, objects, endCall, nudgeDigits: digits.nudge },
      listening: { database, clock, secrets, publicUrl: parts.publicUrl, takesUpgrades },
    }),
    ...callStatsOperations({ database, clock, isBatch: campaignCallDetails.isBatch }),
    ...exportOperations({ ...features.exports, calls }),
    ...peopleOperations({ ...shared, calls, readPhoneNumber }),
    ...searchOperations({ database, calls, readPhoneNumber }),
    ...erasureOperations({ database, clock, secrets }),
    ...workflowOperations({ database, agents, clock, jobs: services.jobs }),
    ...workspaceOperations({
      database,
      clock,
      secrets,
      restoreGuard,
      onHoursChanged: changeHoursOfWorkspace,
      isNumber,
    }),
    ...apiKeyOperations({ database, clock, secrets, streamTokens: services.streamTokens }),
    ...memberOperations({ database, clock }),
    ...sessionOperations({
      ...{ database, clock, secrets, keyRing: services.keyRing },
      takeRate: (whose) => void services.rateLimit(whose, {}),
      provider: openIdentityProvider(config, services.outbound.send, parts.log),
    }),
    ...auditLogOperations(database),
    ...feedOperations({ database, notifications }),
    ...talkOperations({ database, clock, secrets, publicUrl: parts.publicUrl, takesTalks: takesUpgrades }),
    ...agentOperations({
      ...{ database, clock, secrets, guard, inTestSlot, onOpened: resumeBraked, sentences: services.sentences },
      ...{ templateFault, operatorModel: operatorModelOf(config) },
    }),
    ...webhookOperations({ ...webhooks, inTestSlot }),
    ...operatorOperations({
      ...{ database, clock, log: parts.log, lease: services.lease, warnings },
      queueAges: services.metrics.queueAges,
      maxCallsPerDay: operator.maxCallsPerDay,
    }),
  };
}
