import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import { type TicketDeps, TicketedSockets } from '../../../foundation/tickets/ticketed-sockets.ts';
import { toId } from '../../../foundation/values/ids.ts';
import { StreamWriter } from '../../../lines/media/agent-messages.ts';
import type { CallGateway, Listener } from '../../../lines/telephony/call-gateway.ts';
import { LISTEN, type Listening } from './listening.ts';

/** Of one process at once; a workspace alone has half of them. */
const MOST_LISTENERS = 40;
/** What waits to be sent is at most some seconds of sound; what is beyond that is left out. */
const MOST_WAITING = 64_000;

const NOT_ALLOWED = 'The key or session that asked for this may not listen any more.';
/** How often it is asked whether somebody may still listen, and is still there. */
const LOOK_MS = 5000;

/** What listeners are taken with. */
export interface ListenersDeps extends TicketDeps {
  /** Those that hold calls. */
  gateways: () => readonly CallGateway[];
  /** Whether a key or session is there still, and may listen in this workspace. */
  mayListen(keyHash: string, workspaceId: string): Promise<boolean>;
}

/** Those who listen to the calls that this process holds. */
export class Listeners {
  /** The WebSockets that they hear by. */
  readonly sockets: TicketedSockets<Listening>;
  readonly #deps: ListenersDeps;

  constructor(deps: ListenersDeps) {
    this.#deps = deps;
    const begin = async (listening: Listening, socket: WebSocket) => this.#begin(listening, socket);
    this.sockets = new TicketedSockets(deps, { name: LISTEN, most: MOST_LISTENERS, begin });
  }

  async #begin({ workspaceId, roomId, keyHash }: Listening, socket: WebSocket): Promise<void> {
    const mayListen = () => this.#deps.mayListen(keyHash, workspaceId);
    if (!(await mayListen())) return socket.close(1008, NOT_ALLOWED);
    if (socket.readyState !== socket.OPEN) return;
    const streamSid = `MZ${randomBytes(16).toString('hex')}`;
    const writer = new StreamWriter({ accountSid: toId('ws', workspaceId), callSid: toId('room', roomId), streamSid });
    const listener: Listener = {
      sound: (side, ulaw) => {
        if (socket.bufferedAmount > MOST_WAITING) return;
        socket.send(writer.media(Buffer.from(ulaw.buffer), side === 'callee' ? 'inbound' : 'outbound'));
      },
      ended: () => {
        socket.send(writer.stop());
        socket.close(1000, 'The call is over.');
      },
    };
    const stop = this.#listen(roomId, listener);
    if (!stop) {
      socket.close(1011, 'The call is over, or another server holds it: ask for another URL.');
      return;
    }
    let isThere = true;
    socket.on('pong', () => {
      isThere = true;
    });
    const looking = setInterval(async () => {
      if (!isThere) return socket.terminate();
      isThere = false;
      socket.ping();
      // A database that is away ends nobody's right.
      if (!(await mayListen().catch(() => true))) socket.close(1008, NOT_ALLOWED);
    }, LOOK_MS);
    socket.once('close', () => {
      clearInterval(looking);
      stop();
    });
    socket.send(writer.connected());
    socket.send(writer.start({}, ['inbound', 'outbound']));
  }

  #listen(roomId: string, listener: Listener): (() => void) | undefined {
    for (const gateway of this.#deps.gateways()) {
      const stop = gateway.listen?.(roomId, listener);
      if (stop) return stop;
    }
    return undefined;
  }
}
