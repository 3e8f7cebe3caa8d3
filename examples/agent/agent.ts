import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createClient, type TrunklineClient, unwrap } from '@trunkline/client';
import { type WebSocket, WebSocketServer } from 'ws';
import { isFromTrunkline } from './is-from-trunkline.ts';

/** A caller who presses nothing is said goodbye to. */
const PATIENCE_MS = 30_000;

const sounds = { greeting: soundOf('greeting'), confirmed: soundOf('confirmed'), goodbye: soundOf('goodbye') };

/** The samples of a WAV file of 8,000 Hz, µ-law, mono: what `media` wants. */
function soundOf(name: string): Buffer {
  const wav = readFileSync(new URL(`sounds/${name}.wav`, import.meta.url));
  const data = wav.indexOf('data');
  return wav.subarray(data + 8, data + 8 + wav.readUInt32LE(data + 4));
}

/** Takes calls at a port: only those that bear the agent's signature, all others are answered 401. */
export function startAgent(options: { port: number; secret: string; client: TrunklineClient }): WebSocketServer {
  const { port, secret, client } = options;
  const verifyClient = ({ req }: { req: IncomingMessage }) => isFromTrunkline(req.headers, secret);
  const server = new WebSocketServer({ port, verifyClient });
  return server.on('connection', (socket) => talk(socket, client));
}

/** One call: a greeting, a key, an answer, the end. */
function talk(socket: WebSocket, client: TrunklineClient): void {
  let roomId = '';
  let reported: Promise<unknown> | undefined;
  let patience: NodeJS.Timeout | undefined;
  const send = (message: object) => socket.send(JSON.stringify(message));
  const say = (sound: Buffer) => send({ event: 'media', media: { payload: sound.toString('base64') } });

  /** Reports what came of the call, says a last thing, and asks to be told once it has been heard. */
  function end(sound: Buffer, appointmentConfirmed: boolean): void {
    if (reported) return;
    clearTimeout(patience);
    const summary = appointmentConfirmed ? 'Confirmed the appointment.' : 'Did not confirm.';
    const body = { converted: appointmentConfirmed, summary, data: { appointmentConfirmed } };
    const reporting = client.POST('/v1/calls/{roomId}/result', { params: { path: { roomId } }, body });
    reported = unwrap(reporting).catch((error) => console.error(`${roomId}: the result was not taken:`, error));
    send({ event: 'clear' });
    say(sound);
    send({ event: 'mark', mark: { name: 'heard' } });
  }

  socket.on('message', async (data) => {
    const message = JSON.parse(String(data));
    if (message.event === 'start') {
      roomId = message.start.callSid;
      say(sounds.greeting);
      patience = setTimeout(() => end(sounds.goodbye, false), PATIENCE_MS);
    } else if (message.event === 'dtmf' && message.dtmf.digit === '1') end(sounds.confirmed, true);
    else if (message.event === 'dtmf' && message.dtmf.digit === '2') end(sounds.goodbye, false);
    else if (message.event === 'mark' && message.mark.name === 'heard') {
      await reported;
      socket.close(1000); // hangs up
    }
  });
  socket.on('close', () => clearTimeout(patience));
  socket.on('error', console.error);
}

if (import.meta.main) {
  const { PORT = '8765', AGENT_SECRET = '' } = process.env;
  startAgent({ port: Number(PORT), secret: AGENT_SECRET, client: createClient() });
  console.log(`The agent takes calls at ws://127.0.0.1:${PORT}`);
}
