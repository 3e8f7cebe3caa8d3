import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import type { Heartbeat } from './agent-heartbeat.ts';
import type { AgentMessage } from './agent-messages.ts';
import { type AgentConnection, AgentStream } from './agent-stream.ts';
import type { AgentSpeech, TellableVoice } from './answered/answered-voice.ts';
import type { DigitsSent } from './digits.ts';

/** Silence after which a call is over, in ms, unless its agent has another. */
const SILENCE_MS = 30_000;

/** An agent as the voice of a call: what it says is played, and its end is the voice's. When it is opened, it is connected to. */
export function agentVoice(
  connection: AgentConnection,
  guard: AddressGuard,
  heartbeat: Heartbeat,
  { playout, turns, ask, end, saysAnswerer }: AgentSpeech,
): TellableVoice {
  const { silenceMs = SILENCE_MS } = connection;
  let messagesIgnored = 0;
  const say = (message: AgentMessage) => {
    if (message.event === 'clear') playout.clear();
    else if (message.event === 'media') playout.push(message.audio);
    else if (message.event === 'dtmf') void press(message.digits);
    else if (message.event === 'answered_by') saysAnswerer?.(message.answeredBy);
    else if (!playout.mark(message.name)) messagesIgnored += 1;
  };
  const press = async (digits: string) => {
    const asked = ask({ type: 'send_digits', digits }) as Promise<DigitsSent>;
    const sent = await asked.catch((): DigitsSent => ({ isSent: false, reason: 'error' }));
    stream.told(sent.isSent ? { event: 'dtmf_sent' } : { event: 'dtmf_failed', reason: sent.reason });
  };
  const stream = new AgentStream(connection, guard, {
    message: say,
    ignored: () => {
      messagesIgnored += 1;
    },
    ended: (ended) => end(ended, ended.reason === 'hung_up' ? 'said' : 'now'),
  });
  const rest = heartbeat.add(() => {
    stream.beat();
    const silent = turns.fellSilent(performance.now(), silenceMs);
    if (silent) stream.letGo({ reason: silent === 'voice' ? 'mute' : 'silence' });
  });
  return {
    opened: () => stream.connect(),
    start: () => stream.start(),
    hear: (frame) => stream.hear(frame),
    digit: (digit) => stream.digit(digit),
    mark: (name) => stream.mark(name),
    answeredBy: (news) => stream.told(news),
    close: () => {
      rest();
      return stream.close();
    },
    /** Frames of 20 ms that the agent was not given, and messages that mean nothing. */
    counts: () => ({ framesMissed: stream.framesMissed, messagesIgnored }),
  };
}
