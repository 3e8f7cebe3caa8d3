import type { Speech, Voice } from '@trunkline/media';
import { BYTES_PER_MS } from '@trunkline/media';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import type { AgentMessage } from './agent-messages.ts';
import { type AgentConnection, AgentStream } from './agent-stream.ts';

/** An agent as the voice of a call: what it says is played, and its end is the voice's. When it is opened, it is connected to. */
export function agentVoice(connection: AgentConnection, guard: AddressGuard, { playout, hangUp, drop }: Speech): Voice {
  let messagesIgnored = 0;
  let bytesLeftOut = 0;
  const say = (message: AgentMessage) => {
    if (message.event === 'clear') playout.clear();
    else if (message.event === 'mark') {
      if (!playout.mark(message.name)) messagesIgnored += 1;
    } else if (!playout.push(message.audio)) bytesLeftOut += message.audio.length;
  };
  const stream = new AgentStream(connection, guard, {
    message: say,
    ignored: () => {
      messagesIgnored += 1;
    },
    ended: (end) => (end.kind === 'dropped' ? drop(end.text) : hangUp()),
  });
  return {
    opened: () => stream.connect(),
    start: () => stream.start(),
    hear: (frame) => stream.hear(frame),
    digit: (digit) => stream.digit(digit),
    mark: (name) => stream.mark(name),
    close: () => stream.close(),
    /** Frames of 20 ms that a slow agent has missed, messages that mean nothing, and what was beyond the five minutes that it may be ahead. */
    counts: () => ({
      framesMissed: stream.framesLeftOut,
      messagesIgnored,
      soundLeftOutMs: Math.round(bytesLeftOut / BYTES_PER_MS),
    }),
  };
}
