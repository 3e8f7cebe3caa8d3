import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  alawToUlaw,
  type RtpPacket,
  readRtp,
  type SrtpKeys,
  SrtpReceiver,
  SrtpSender,
  ulawToAlaw,
  writeRtpHeader,
} from '@trunkline/media';
import type { AudioFormat, AudioStream } from '@trunkline/sip';

/** What a packet of the peer is like, where it isn't the usual. */
interface Said {
  payloadType?: number;
  marker?: boolean;
  sequence?: number;
  timestamp?: number;
  ssrc?: number;
}

/** A telephone on loopback: one RTP socket, and the RTCP socket above it. */
export interface Peer {
  port: number;
  heard: (RtpPacket & { at: number; ulaw: Buffer })[];
  reports: Buffer[];
  /** The datagrams of RTP as they came. */
  wire: Buffer[];
  /** Encrypts from now on; what is not encrypted by the other side's key is not heard. */
  encrypt(keys: SrtpKeys): void;
  /** Sends one packet. */
  send(payload: Buffer, said?: Said): void;
  sendRtcp(datagram: Buffer): void;
  sendRaw(datagram: Buffer): void;
  /** Speaks in real time; ends with the sound. */
  speak(ulaw: Buffer, options?: { packetMs?: number; alaw?: boolean; payloadType?: number }): Promise<void>;
  /** All that was heard, as µ-law. */
  sound(): Buffer;
  /** What is agreed with it. */
  stream(changes?: Partial<AudioStream>): AudioStream;
  close(): void;
}

const receives = new Map<number, AudioFormat>([
  [0, 'PCMU'],
  [8, 'PCMA'],
  [101, 'telephone-event'],
]);

/** @param to the port of the call's RTP @param host where the peer sends from @param far where that port is */
export async function startPeer(to: number, host = '127.0.0.1', far = '127.0.0.1'): Promise<Peer> {
  const [rtp, rtcp] = await boundPair(host);
  const port = rtp.address().port;
  const heard: Peer['heard'] = [];
  const reports: Buffer[] = [];
  const wire: Buffer[] = [];
  let encryption: { sender: SrtpSender; receiver: SrtpReceiver } | undefined;
  rtp.on('message', (datagram) => {
    wire.push(Buffer.from(datagram));
    const opened = encryption ? encryption.receiver.open(datagram) : datagram;
    if (typeof opened === 'string') return;
    const packet = readRtp(opened)!;
    const ulaw = packet.payloadType === 8 ? alawToUlaw(packet.payload) : packet.payload;
    heard.push({ ...packet, at: performance.now(), ulaw });
  });
  rtcp.on('message', (datagram) => reports.push(datagram));
  let [sequence, timestamp] = [65_530, 0];
  const peer: Peer = {
    port,
    heard,
    reports,
    wire,
    encrypt: ({ send, receive }) => {
      encryption = { sender: new SrtpSender(send), receiver: new SrtpReceiver(receive) };
    },
    send: (payload, said = {}) => {
      const packet = Buffer.concat([Buffer.alloc(12), payload]);
      writeRtpHeader(packet, {
        payloadType: 0,
        marker: false,
        sequence: sequence & 0xffff,
        timestamp,
        ssrc: port,
        ...said,
      });
      if (said.sequence === undefined) sequence += 1;
      timestamp += payload.length;
      rtp.send(encryption?.sender.seal(packet) ?? packet, to, far);
    },
    sendRtcp: (datagram) => rtcp.send(datagram, to + 1, far),
    sendRaw: (datagram) => rtp.send(datagram, to, far),
    speak: async (ulaw, { packetMs = 20, alaw = false, payloadType = alaw ? 8 : 0 } = {}) => {
      const bytes = packetMs * 8;
      const began = performance.now();
      for (let at = 0; at < ulaw.length; at += bytes) {
        const wait = began + at / 8 - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        const frame = ulaw.subarray(at, at + bytes);
        peer.send(alaw ? ulawToAlaw(frame) : frame, { payloadType });
      }
    },
    sound: () => Buffer.concat(heard.filter(({ payloadType }) => payloadType < 96).map(({ ulaw }) => ulaw)),
    stream: (changes = {}) => ({
      remote: { address: host, port, rtcpAddress: host, rtcpPort: port + 1 },
      codec: 'PCMU',
      payloadType: 0,
      telephoneEventType: 101,
      receives,
      packetMs: 20,
      direction: 'sendrecv',
      ...changes,
    }),
    close: () => {
      rtp.close();
      rtcp.close();
    },
  };
  return peer;
}

async function boundPair(host: string): Promise<[Socket, Socket]> {
  for (;;) {
    const rtp = createSocket('udp4');
    rtp.bind(0, host);
    await once(rtp, 'listening');
    const rtcp = createSocket('udp4');
    const bound = once(rtcp, 'listening').then(
      () => true,
      () => false,
    );
    rtcp.bind(rtp.address().port + 1, host);
    if (await bound) return [rtp, rtcp];
    rtp.close();
    rtcp.close();
  }
}
