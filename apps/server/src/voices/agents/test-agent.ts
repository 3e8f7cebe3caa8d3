import { setTimeout as sleep } from 'node:timers/promises';
import { FRAME, isAudible, ULAW_SILENCE } from '@trunkline/media';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import type { InTestSlot } from '../../foundation/outbound-http/test-slots.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { notFound } from '../../foundation/values/service-error.ts';
import type { StreamEnd } from '../../lines/media/agent-end.ts';
import type { AgentFailure } from '../../lines/media/agent-failure.ts';
import { type AgentConnection, AgentStream } from '../../lines/media/agent-stream.ts';
import type { AgentConnection as ConnectionOfAgent } from '../../lines/telephony/agent-connection.ts';
import type { AuditOf } from '../../platform/journal/audit-of.ts';
import { audit } from '../../platform/journal/record.ts';
import type { Sentences } from '../speech/sentences.ts';
import { openConnection } from './agent.ts';
import { openFailing } from './agent-health.ts';
import type { AgentDeps } from './deps.ts';
import { withOperatorKey } from './operator-model.ts';
import { prepareScript, type ScriptTerms } from './script.ts';
import { findAgent } from './store.ts';
import { type TriedModel, tryModel } from './try-model.ts';

type AgentTest = components['schemas']['AgentTest'];

/** How long it is listened to an agent that took the connection. */
const LISTEN_MS = 2000;

/**
 * Connects to an agent as a call would, listens for its first sound, and hangs up. If nobody was called for it since it failed,
 * people are again once it was reached. Throws `not_found`.
 */
export async function testAgent(
  { database, clock, secrets, guard, onOpened, sentences, operatorModel }: AgentDeps,
  workspaceId: string,
  id: string,
  auditOf: AuditOf,
): Promise<AgentTest> {
  const row = await database.inWorkspace(workspaceId, async (tx) => {
    const found = await findAgent(tx, id);
    if (!found) throw notFound();
    await audit(tx, auditOf('agent.tested', 'agent', toId('agent', id)), clock.now());
    return found;
  });
  const connection = withOperatorKey(openConnection(row, secrets), operatorModel);
  const found = await tryAgent({ guard, sentences }, workspaceId, connection);
  if (found.reachable)
    await database.inWorkspace(workspaceId, async (tx) => {
      const agentId = toId('agent', id);
      await openFailing(tx, agentId);
      await onOpened(tx, agentId, clock.now());
    });
  return found;
}

/** Connects to an agent as a call would; answers what is in the way, in words. */
export type AskAgent = (workspaceId: string, connection: ConnectionOfAgent) => Promise<string | undefined>;

/** What agents are tried with. */
export interface TryMeans {
  guard: AddressGuard;
  sentences: Sentences;
}

/** Asks agents, in the slots that tests have. */
export const agentAsker =
  (means: TryMeans, inTestSlot: InTestSlot): AskAgent =>
  (workspaceId, connection) =>
    inTestSlot(workspaceId, async () => {
      const { reachable, message } = await tryAgent(means, workspaceId, connection);
      return reachable ? undefined : message;
    });

/** The same for what is known of a connection, with nothing written. */
export function tryAgent(
  { guard, sentences }: TryMeans,
  workspaceId: string,
  connection: ConnectionOfAgent,
): Promise<AgentTest> {
  if (connection.type === 'script') return tryScript(sentences, workspaceId, connection);
  return tryConnection(guard, workspaceId, connection);
}

/** The same for an agent that is connected to. */
export function tryConnection(
  guard: AddressGuard,
  workspaceId: string,
  connection: Exclude<ConnectionOfAgent, { type: 'script' }>,
): Promise<AgentTest> {
  if (connection.type === 'realtime') return tryModel(guard, workspaceId, connection, LISTEN_MS).then(told);
  const { url, headers, secret, connectTimeoutSeconds } = connection;
  return listenTo(guard, {
    ...{ url, headers, secret },
    connectTimeoutMs: connectTimeoutSeconds * 1000,
    reconnect: false,
    accountSid: toId('ws', workspaceId),
    callSid: toId('room', newUuid()),
    customParameters: { test: 'true' },
  });
}

/** A script is there if all that is the same for everybody can be played: a campaign's first callee must not wait for it. */
async function tryScript(sentences: Sentences, workspaceId: string, script: ScriptTerms): Promise<AgentTest> {
  const from = performance.now();
  const faults = await Promise.race([
    prepareScript(sentences, workspaceId, script),
    sleep(PREPARE_MS, undefined, { ref: false }),
  ]);
  const durationMs = Math.round(performance.now() - from);
  if (!faults) return { reachable: false, reason: 'timed_out', message: PREPARING, durationMs };
  const [fault] = faults;
  if (fault === undefined) return { reachable: true, reason: 'ok', message: PREPARED, spoke: true, durationMs };
  const message = `${faults.length} of the script's sentences can not be played. ${fault}`;
  return { reachable: false, reason: 'rejected', message, durationMs };
}

/** A test answers within 15 seconds. */
const PREPARE_MS = 12_000;
const PREPARING = 'The sentences of the script are still being made. Try again in a moment.';
const PREPARED = 'All sentences of the script that are the same for everybody are ready.';

async function listenTo(guard: AddressGuard, connection: AgentConnection): Promise<AgentTest> {
  let tell: (heard: StreamEnd | 'spoke' | 'silent') => void = () => {};
  const enough = new Promise<StreamEnd | 'spoke' | 'silent'>((resolve) => {
    tell = resolve;
  });
  const stream = new AgentStream(connection, guard, {
    message: (message) => message.event === 'media' && isAudible(message.audio) && tell('spoke'),
    ignored: () => {},
    ended: tell,
  });
  const from = performance.now();
  const connected = await stream.connect();
  const durationMs = Math.round(performance.now() - from);
  if (!connected.connected) return told({ connected, durationMs, heard: 'silent' });
  stream.start();
  const speaking = setInterval(() => stream.hear(silence), 20);
  const listening = setTimeout(() => tell('silent'), LISTEN_MS);
  const heard = await enough;
  clearInterval(speaking);
  clearTimeout(listening);
  stream.close();
  return told({ connected, durationMs, heard });
}

const endsToTell = ['hung_up', 'too_large', 'limit_reached'] as const;

/** What came of a try, in the contract's words. */
function told({ connected, durationMs, heard }: TriedModel): AgentTest {
  if (!connected.connected) {
    const { reason, statusCode } = connected;
    if (reason === 'call_ended') throw new Error('A test ended before its agent was connected.');
    const message = failureTexts[reason](connected);
    return { reachable: false, reason, message, ...(statusCode !== undefined && { statusCode }), durationMs };
  }
  if (typeof heard === 'object') {
    const reason = endsToTell.find((each) => each === heard.reason) ?? 'crashed';
    return { reachable: false, reason, message: closedText(heard), durationMs };
  }
  const spoke = heard === 'spoke';
  return { reachable: true, reason: 'ok', message: spoke ? SPOKE : SILENT, spoke, durationMs };
}

const silence = Buffer.alloc(FRAME, ULAW_SILENCE);

const SPOKE = 'The agent took the connection and began to speak.';
const SILENT = `The agent took the connection, and said nothing for ${LISTEN_MS / 1000} seconds. That is right for one that lets the caller speak first.`;

const named = ({ code }: AgentFailure) => (code ? ` (${code})` : '');

/** What to look at. No text names an address that a name stands for. */
const failureTexts: Record<Exclude<AgentFailure['reason'], 'call_ended'>, (failure: AgentFailure) => string> = {
  address_refused: () =>
    "The server may not connect to the agent's address. An operator can allow it in OUTBOUND_ALLOWED_ADDRESSES.",
  dns_failure: (failure) => `The name in the agent's URL has no address${named(failure)}. Look at how it is written.`,
  refused: (failure) =>
    `No WebSocket to the agent came about${named(failure)}. Look whether it runs, at its port, and at firewalls.`,
  tls_failure: (failure) =>
    `TLS with the agent failed${named(failure)}. Its certificate must be valid, for the name in the URL, and from a known authority.`,
  rejected: ({ statusCode, text }) =>
    statusCode === undefined
      ? text
      : `The agent answered ${statusCode} instead of taking the connection. Look at the ${statusCode === 404 ? 'path in its URL' : 'headers of its connection'}.`,
  limit_reached: ({ text }) => `The model has no rate or quota left for another session. ${text}`,
  timed_out: () => 'The agent did not take the connection in time. Look whether it runs, and at connectTimeoutSeconds.',
};

const closedText = (end: StreamEnd) =>
  end.reason === 'hung_up'
    ? 'The agent took the connection and hung up at once, without a word.'
    : `The agent took the connection and broke off (${[end.closeCode, end.text].filter(Boolean).join(': ')}). Look at its log.`;
