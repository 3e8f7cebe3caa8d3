import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { addressIn, callIdOf, parseMessage, type SipRequest } from '@trunkline/sip';

/** A registrar on loopback that asks for a password, and takes any. */
export interface RegistrarPeer {
  port: number;
  /** What it has taken, in its order: the address, by whose Contact, and for how long; 0 is none any more. */
  taken: { address: string; contact: string; seconds: number }[];
  /** It answers everything with that status from now on; with none as before. */
  refuse(status: number | undefined): void;
  close(): void;
}

/** Starts one, by UDP. */
export async function startRegistrarPeer(): Promise<RegistrarPeer> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const taken: RegistrarPeer['taken'] = [];
  let refused: number | undefined;
  socket.on('message', (bytes, { address, port }) => {
    if (bytes.length <= 4) return;
    const request = parseMessage(bytes) as SipRequest;
    const answer = (status: number, extra: string[] = []) => {
      const copied = ['via', 'from', 'cseq'].map((name) => `${name}: ${request.headers.get(name)}`);
      const to = `to: ${request.headers.get('to')};tag=r`;
      const lines = [`SIP/2.0 ${status} Said`, ...copied, to, `call-id: ${callIdOf(request)}`, ...extra];
      socket.send(`${[...lines, 'content-length: 0', '', ''].join('\r\n')}`, port, address);
    };
    if (refused !== undefined) return answer(refused);
    if (!request.headers.get('authorization')) return answer(401, ['www-authenticate: Digest realm="r", nonce="n"']);
    const contact = request.headers.get('contact')!;
    const seconds = Number(request.headers.get('expires'));
    taken.push({ address: addressIn(request, 'to')!, contact, seconds });
    answer(200, seconds > 0 ? [`contact: ${contact};expires=${seconds}`] : []);
  });
  return {
    port: socket.address().port,
    taken,
    refuse: (status) => {
      refused = status;
    },
    close: () => void socket.close(),
  };
}
