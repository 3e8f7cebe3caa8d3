import { FRAME, isAudible, type Speech, ULAW_SILENCE } from '@trunkline/media';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { StreamEnd } from '../../lines/media/agent-end.ts';
import { Heartbeat } from '../../lines/media/agent-heartbeat.ts';
import type { AgentConnected } from '../../lines/media/agent-stream.ts';
import { RealtimeVoice } from '../../lines/media/realtime/realtime-voice.ts';
import type { RealtimeConnection } from '../../lines/telephony/agent-connection.ts';

/** How it went: what it said first, or how it ended. */
export interface TriedModel {
  connected: AgentConnected;
  durationMs: number;
  heard: 'spoke' | 'silent' | StreamEnd;
}

/**
 * Opens a session with a speech model as a call would.
 * @param listenMs how long its first sound is waited for, if it is one that speaks first; 0: only whether it is there
 */
export async function tryModel(
  guard: AddressGuard,
  workspaceId: string,
  { type: _type, http: _http, silenceSeconds, asksFor: _asksFor, ...connection }: RealtimeConnection,
  listenMs: number,
): Promise<TriedModel> {
  let tell: (heard: TriedModel['heard']) => void = () => {};
  const heard = new Promise<TriedModel['heard']>((resolve) => {
    tell = resolve;
  });
  const speech: Speech = {
    playout: {
      push: (ulaw) => {
        if (isAudible(ulaw)) tell('spoke');
        return true;
      },
      ...{ mark: () => true, clear: () => {}, queued: 0 },
    },
    turns: { fellSilent: () => undefined },
    end: (end) => tell(end as StreamEnd),
    ask: async () => ({ output: 'This is a test: nothing was done.', isDone: false }),
  };
  const ask = { ...connection, silenceMs: silenceSeconds * 1000, accountSid: toId('ws', workspaceId) };
  const voice = new RealtimeVoice(ask, guard, new Heartbeat(), speech);
  const from = performance.now();
  const connected = await voice.opened();
  const durationMs = Math.round(performance.now() - from);
  // Some say nothing unless they hear something.
  const hearing = setInterval(() => voice.hear(silence), 20);
  if (connected.connected && listenMs > 0 && connection.speaksFirst) {
    voice.start();
    setTimeout(() => tell('silent'), listenMs);
  } else tell('silent');
  const tried = { connected, durationMs, heard: await heard };
  clearInterval(hearing);
  voice.close();
  return tried;
}

const silence = Buffer.alloc(FRAME, ULAW_SILENCE);
