import { callSpanId, partOf, tracer } from '../../foundation/observe/tracing.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { StreamConnection } from '../telephony/agent-connection.ts';
import { answeringOf, type Briefing } from './briefing.ts';
import type { Sound, VoiceEnd } from './sound.ts';
import type { Voice } from './voice.ts';

/** An agent that takes calls over a stream. */
export class StreamAgent implements Voice {
  readonly agentId: string;
  readonly #connection: StreamConnection;
  readonly #briefing: Briefing;

  constructor(connection: StreamConnection, briefing: Briefing) {
    this.agentId = briefing.agentId;
    this.#connection = connection;
    this.#briefing = briefing;
  }

  get joinsAt(): 'answered' | 'ringing' {
    return this.#connection.connectAt;
  }

  async join(sound: Sound): Promise<VoiceEnd | undefined> {
    const { url, headers, secret, reconnect, connectTimeoutSeconds, silenceSeconds } = this.#connection;
    const { workspaceId, roomId, trace } = this.#briefing;
    const connectTimeoutMs = connectTimeoutSeconds * 1000;
    const from = tracer && Date.now();
    const connection = {
      url,
      headers,
      secret,
      reconnect,
      connectTimeoutMs,
      ...(silenceSeconds !== undefined && { silenceMs: silenceSeconds * 1000 }),
      accountSid: toId('ws', workspaceId),
      callSid: toId('room', roomId),
      customParameters: parametersOf(this.#briefing),
      answering: answeringOf(this.#briefing),
    };
    // A second connection may follow the first.
    const found = await sound.speak('agent', connection, connectTimeoutMs);
    tracer?.record(
      partOf(trace ?? roomId, {
        ...({ name: 'agent', kind: 'client', parent: callSpanId(roomId) } as const),
        ...{ from: from ?? Date.now(), to: Date.now(), attributes: {}, hasFailed: !found.connected },
      }),
    );
    if (found.connected) return undefined;
    return { reason: found.reason, text: found.text };
  }
}

function parametersOf({ numbers, variables = {}, told = {}, far }: Briefing): Record<string, string> {
  const { from, to } = numbers;
  const direction = far === 'callee' ? 'outbound' : 'inbound';
  // Under these names bridges of Twilio, and Pipecat's, look for them; a column of the contact is the user's own word.
  const said = { direction, ...(to && { to, to_number: to }), ...(from && { from, from_number: from }) };
  return { ...said, ...texts(variables), trunkline: JSON.stringify(told) };
}

const texts = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
