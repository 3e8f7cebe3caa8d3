import type { Socket } from 'node:net';
import { type Frame, Framing } from './framing.ts';
import { type Flow, type Target, TransportError } from './transport.ts';

/** A connection on which nothing came or went for so long is closed; a call that needs it opens a new one. */
const IDLE_MS = 10 * 60_000;
/** A peer that reads nothing while so much waits for it is gone. */
const MAX_WAITING_BYTES = 1024 * 1024;
const PROBE_AFTER_MS = 60_000;
const PONG = Buffer.from('\r\n');

/** A connection as a way to a peer. `onMessage` gets each message that was cut out of the stream. */
export function createStreamFlow(
  socket: Socket,
  target: Target,
  local: Flow['local'],
  isInbound: boolean,
  onMessage: (bytes: Buffer, flow: Flow) => void,
): Flow {
  const framing = new Framing();
  const closing = new Set<() => void>();
  let isOpen = true;
  const flow: Flow = {
    target,
    local,
    isInbound,
    get isOpen() {
      return isOpen;
    },
    send(bytes) {
      if (!isOpen || socket.writableLength > MAX_WAITING_BYTES) {
        socket.destroy();
        return Promise.reject(new TransportError('lost', `The connection with ${target.address} is closed.`));
      }
      socket.write(bytes);
      return Promise.resolve();
    },
    onClosed(run) {
      closing.add(run);
      return () => closing.delete(run);
    },
  };
  const receive = (frame: Frame) => (typeof frame === 'string' ? socket.write(PONG) : onMessage(frame, flow));
  socket.setNoDelay(true);
  socket.setKeepAlive(true, PROBE_AFTER_MS);
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  // The close that follows says all there is to say.
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    let frames: Frame[];
    try {
      frames = framing.push(chunk);
    } catch {
      socket.destroy();
      return;
    }
    for (const frame of frames) receive(frame);
  });
  socket.on('end', () => socket.destroy());
  socket.once('close', () => {
    isOpen = false;
    for (const run of closing) run();
    closing.clear();
  });
  return flow;
}
