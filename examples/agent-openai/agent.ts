import type { IncomingMessage } from 'node:http';
import { createClient, type TrunklineClient, unwrap } from '@trunkline/client';
import { WebSocket, WebSocketServer } from 'ws';
import { isFromTrunkline } from '../agent/is-from-trunkline.ts';
import { heardMs, session } from './session.ts';

export interface AgentOptions {
  port: number;
  secret: string;
  client: TrunklineClient;
  /** The realtime API with its model, such as `wss://api.openai.com/v1/realtime?model=gpt-realtime`. */
  realtimeUrl: string;
  openaiKey: string;
}

/** Takes calls at a port, each with a conversation of its own. */
export function startAgent(options: AgentOptions): WebSocketServer {
  const verifyClient = ({ req }: { req: IncomingMessage }) => isFromTrunkline(req.headers, options.secret);
  const server = new WebSocketServer({ port: options.port, verifyClient });
  return server.on('connection', (socket) => bridge(socket, options));
}

/** One call. Sound goes through as it is: both sides speak G.711 µ-law in base64. */
function bridge(socket: WebSocket, { client, realtimeUrl, openaiKey }: AgentOptions): void {
  const headers = { Authorization: `Bearer ${openaiKey}` };
  const model = new WebSocket(realtimeUrl, { headers, handshakeTimeout: 5000 });
  const opened = new Promise((resolve) => model.once('open', resolve));
  const tellModel = (event: object) => model.readyState === WebSocket.OPEN && model.send(JSON.stringify(event));
  const tellCall = (message: object) => socket.send(JSON.stringify(message));
  let roomId = '';
  /** What the model is saying: since when, and how much of it the call was given. */
  let saying: { itemId: string; since: number; bytes: number } | undefined;

  /** The caller speaks: what is left to say is forgotten, and the model is told how much of it was heard. */
  function interrupt(): void {
    tellCall({ event: 'clear' });
    if (!saying) return;
    const { itemId, since, bytes } = saying;
    const audioEndMs = heardMs(performance.now() - since, bytes);
    tellModel({ type: 'conversation.item.truncate', item_id: itemId, content_index: 0, audio_end_ms: audioEndMs });
    saying = undefined;
  }

  /** The model is done: its result is reported, and the call hung up when all has been heard. */
  async function end(text: string): Promise<void> {
    try {
      const body = JSON.parse(text) as { summary: string; converted: boolean };
      await unwrap(client.POST('/v1/calls/{roomId}/result', { params: { path: { roomId } }, body }));
    } catch (error) {
      console.error(`${roomId}: the result was not taken:`, error);
    }
    if (socket.readyState === WebSocket.OPEN) tellCall({ event: 'mark', mark: { name: 'end' } });
  }

  socket.on('message', async (data) => {
    const message = JSON.parse(String(data));
    if (message.event === 'media') {
      tellModel({ type: 'input_audio_buffer.append', audio: message.media.payload });
    } else if (message.event === 'start') {
      roomId = message.start.callSid;
      await opened;
      tellModel({ type: 'session.update', session: session(message.start.customParameters) });
      tellModel({ type: 'response.create' });
    } else if (message.event === 'mark' && message.mark.name === 'end') socket.close(1000); // hangs up
  });

  model.on('message', (data) => {
    const event = JSON.parse(String(data));
    if (event.type === 'response.output_audio.delta' && socket.readyState === WebSocket.OPEN) {
      if (saying?.itemId !== event.item_id) saying = { itemId: event.item_id, since: performance.now(), bytes: 0 };
      saying!.bytes += Buffer.byteLength(event.delta, 'base64');
      tellCall({ event: 'media', media: { payload: event.delta } });
    } else if (event.type === 'input_audio_buffer.speech_started') interrupt();
    else if (event.type === 'response.output_item.done' && event.item.name === 'end_call') end(event.item.arguments);
    else if (event.type === 'error') console.error(`${roomId}: the model says:`, event.error);
  });

  socket.on('close', () => model.close());
  // 1011 is a fault, no hang-up: the call ends with `endedBy: error`.
  model.on('close', () => socket.close(1011));
  for (const each of [socket, model]) each.on('error', console.error);
}

if (import.meta.main) {
  const {
    PORT = '8765',
    AGENT_SECRET = '',
    TRUNKLINE_URL = 'http://127.0.0.1:8080',
    TRUNKLINE_API_KEY = '',
  } = process.env;
  const { OPENAI_API_KEY = '', OPENAI_REALTIME_URL = 'wss://api.openai.com/v1/realtime?model=gpt-realtime' } =
    process.env;
  const client = createClient({ baseUrl: TRUNKLINE_URL, apiKey: TRUNKLINE_API_KEY });
  const places = { port: Number(PORT), realtimeUrl: OPENAI_REALTIME_URL };
  startAgent({ ...places, secret: AGENT_SECRET, client, openaiKey: OPENAI_API_KEY });
  console.log(`The agent takes calls at ws://127.0.0.1:${PORT}`);
}
