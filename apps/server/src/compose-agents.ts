import { configured, type Engine } from './compose-engine.ts';
import type { Parts, Services } from './compose-services.ts';
import { callBack } from './dialing/call-intents/call-back.ts';
import { toolCaller } from './dialing/calls/call-tool.ts';
import { Listeners } from './dialing/calls/listening/take-listeners.ts';
import { type CallResultDeps, recordCallResult } from './dialing/calls/record-call-result.ts';
import { recordOver } from './dialing/calls/record-over.ts';
import { toolUser } from './dialing/calls/use-tool.ts';
import { callWithdrawer } from './dialing/calls/withdraw-calls.ts';
import { countConversions } from './dialing/campaigns/count-conversions.ts';
import { retryMachine } from './dialing/campaigns/retry-machine.ts';
import { noteJoined } from './dialing/transfers/hand-on-calls.ts';
import type { UpgradeTaker } from './foundation/http/listen.ts';
import { createRateLimit } from './foundation/http/rate-limit.ts';
import { measureSlots } from './foundation/observe/slot-metrics.ts';
import { lacking } from './foundation/values/permissions.ts';
import { ServiceError } from './foundation/values/service-error.ts';
import type { AgentRequest, ServedCall } from './lines/conversation/agent-request.ts';
import { operatorLimits } from './platform/workspace/operator-limits.ts';
import { transcriber } from './voices/speech/transcribe.ts';
import { Talks } from './voices/talks/take-talks.ts';

type Acts = {
  [Type in AgentRequest['type']]: (
    call: ServedCall,
    request: Extract<AgentRequest, { type: Type }>,
  ) => Promise<unknown>;
};

const TALKS_PER_MINUTE = 120;

/** What results of calls are recorded with. */
export function callResultsOf({ database, clock }: Parts, services: Services, engine: Engine): CallResultDeps {
  const { nudgeHangUps } = engine.switchboard;
  return {
    ...{ database, clock, calls: engine.calls, countConversions, retryMachine },
    withdrawCallsTo: callWithdrawer({ database, clock, nudgeHangUps }),
    guard: services.restoreGuard,
  };
}

/** Who takes requests for WebSockets, and ends those that are open. */
export interface Sockets {
  takers: readonly UpgradeTaker[];
  close(): void;
}

/** The talks with agents that this process holds, and those who listen to its calls. */
export function openSockets(parts: Parts, services: Services): Sockets {
  const [talks, listeners] = [openTalks(parts, services), openListeners(parts, services)];
  return {
    takers: [talks.sockets, listeners.sockets],
    close: () => {
      talks.close();
      listeners.sockets.close();
    },
  };
}

function openTalks({ database, clock, log, config, publicUrl }: Parts, services: Services): Talks {
  const { secrets, callAgents: agents, sound, desk, words } = services;
  const { media, address: mediaAddress } = sound;
  const { corsOrigins = [] } = config;
  const own = { secrets, agents, words, serve: desk.serve, media, mediaAddress, corsOrigins };
  return new Talks({ database, clock, log, publicUrl, mayAsk: talksAskedFor(), ...own });
}

function openListeners({ database, clock, log, config, publicUrl }: Parts, services: Services): Listeners {
  const { secrets, gateways, keyRing } = services;
  const { corsOrigins = [] } = config;
  return new Listeners({
    ...{ database, clock, log, secrets, publicUrl, corsOrigins, mayAsk: talksAskedFor() },
    gateways: () => [...new Set(gateways.values())],
    mayListen: async (keyHash, workspaceId) => {
      const key = await keyRing.authenticateHash(keyHash);
      return key?.workspaceId === workspaceId && lacking(key.permissions, ['calls:listen']).length === 0;
    },
  });
}

/** Judges how often talks are asked for: of a workspace, or of an address that has none. */
function talksAskedFor(): (who: string) => boolean {
  const take = createRateLimit({ key: TALKS_PER_MINUTE, workspace: 0 });
  return (who) => {
    try {
      take({ keyId: who, workspaceId: '' }, {});
      return true;
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'rate_limited') return false;
      throw error;
    }
  };
}

/** Has done what the agents that the server speaks for ask for in their calls. */
export function serveAgents(parts: Parts, services: Services, engine: Engine): void {
  const results = callResultsOf(parts, services, engine);
  const callBacks = {
    ...{ database: parts.database, clock: parts.clock, providers: configured(services.gateways) },
    ...{ operator: operatorLimits(parts.config), isSimulated: engine.switchboard.isSimulated },
    nudge: engine.intentClaiming.nudge,
  };
  const tools = toolCaller(services.outbound.send);
  measureSlots(services.metrics.registry, 'agent_tools', tools.slots);
  const useTool = toolUser({
    ...{ results, agents: services.callAgents, callTool: tools.call, log: parts.log },
    callBack: (call, time) => callBack(callBacks, call, time),
    sendDigits: engine.switchboard.digits.send,
  });
  const { transcribeUrl: url, transcribeKey: key, transcribeModel: model } = parts.config;
  const transcribe = url === undefined ? undefined : transcriber({ url, key, model });
  const acts: Acts = {
    record_result: async (call, { result, over }) => {
      if (over) await recordOver({ ...results, recordEvents: engine.recordEvents }, call, result, over);
      else await recordCallResult(results, call.workspaceId, call.roomId, result, undefined);
    },
    call_back: async (call, time) => {
      await callBack(callBacks, call, time);
    },
    speech: (call, { isKept, ...spoken }) =>
      isKept ? services.sentences.speech(call.workspaceId, spoken) : services.sentences.speechFor(call, spoken),
    sound: ({ workspaceId }, { soundId }) => services.sentences.sound(workspaceId, soundId),
    use_tool: useTool,
    handed_on: async ({ workspaceId }, { transferId }) => void noteJoined(parts, workspaceId, transferId),
    send_digits: ({ roomId }, { digits }) => engine.switchboard.digits.send(roomId, digits),
    // Nobody follows a call that is no talk.
    turn: async () => {},
    transcribe: async ({ workspaceId }, { ulaw }) => transcribe?.(workspaceId, ulaw),
    // The call itself has kept it.
    answered_by: async () => {},
    over: async ({ roomId }) => services.sentences.forget(roomId),
  };
  services.desk.open((call, request) => acts[request.type](call, request as never));
}
