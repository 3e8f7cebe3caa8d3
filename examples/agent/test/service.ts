import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';

interface Message {
  event: string;
  media?: { payload: string };
  mark?: { name: string };
}

/** The headers of a connection that the service makes. */
export function callHeaders(secret: string, roomId: string): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1000);
  const v1 = createHmac('sha256', secret).update(`${seconds}.${roomId}`).digest('hex');
  return { 'X-Trunkline-Call-Id': roomId, 'X-Trunkline-Signature': `t=${seconds},v1=${v1}` };
}

/** Plays the service: connects to an agent for a call. */
export async function called(url: string, secret: string, roomId: string) {
  const socket = new WebSocket(url, { headers: callHeaders(secret, roomId) });
  const messages: Message[] = [];
  let news = () => {};
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)));
    news();
  });
  const closed = once(socket, 'close').then(([code]) => code as number);
  await once(socket, 'open');
  const streamSid = 'MZ1';
  const send = (event: string, body: object) => socket.send(JSON.stringify({ event, ...body, streamSid }));
  socket.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
  return {
    socket,
    /** The code that the agent closed with. */
    closed,
    start: () => {
      const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
      const start = { accountSid: 'ws_1', streamSid, callSid: roomId, tracks: ['inbound'], mediaFormat };
      send('start', { start: { ...start, customParameters: { direction: 'outbound' } } });
    },
    speak: (payload: string) => send('media', { media: { track: 'inbound', chunk: '1', timestamp: '0', payload } }),
    press: (digit: string) => send('dtmf', { dtmf: { track: 'inbound_track', digit } }),
    heard: (name: string) => send('mark', { mark: { name } }),
    /** The agent's next message of this kind; those before it are left out. */
    next: async (event: string): Promise<Message> => {
      for (;;) {
        while (messages.length > 0) {
          const message = messages.shift()!;
          if (message.event === event) return message;
        }
        await new Promise<void>((resolve) => {
          news = resolve;
        });
      }
    },
  };
}
