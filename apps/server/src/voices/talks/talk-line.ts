import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AudioStream, FRAME, PcmToUlaw, readRtp, UlawToPcm, writeRtpHeader } from '@trunkline/media';

const PCMU = 0;
const HEADER = 12;
/** What a browser sends and gets, in Hz: PCM of 16 bits, little-endian. */
const BROWSER = 16_000;

/** The sound of a talk, between a browser's PCM and the media thread, to which it is a peer like any other. */
export class TalkLine {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  readonly #toTelephone = new PcmToUlaw(BROWSER);
  readonly #toBrowser = new UlawToPcm(BROWSER);
  readonly #ssrc = Math.floor(performance.now() * 1000) >>> 0;
  #sequence = 0;
  /** Samples that make no whole frame yet, µ-law. */
  #rest = Buffer.alloc(0);
  #isClosed = false;

  private constructor(socket: Socket, address: string, port: number, heard: (pcm: Buffer) => void) {
    this.#socket = socket;
    this.#address = address;
    this.#port = port;
    socket.on('message', (datagram) => {
      const packet = readRtp(datagram);
      if (packet?.payloadType === PCMU) heard(this.#toBrowser.push(packet.payload));
    });
    // Its call ends by itself if nothing comes any more.
    socket.on('error', () => {});
  }

  /**
   * @param address where the media thread's socket for RTP is, and from where it is talked to
   * @param heard told what the agent says, 20 ms of PCM at a time
   */
  static async open(address: string, port: number, heard: (pcm: Buffer) => void): Promise<TalkLine> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    socket.bind(0, address);
    await once(socket, 'listening');
    return new TalkLine(socket, address, port, heard);
  }

  /** What the media thread is told of it. */
  get stream(): AudioStream {
    const { address, port } = this.#socket.address();
    return {
      remote: { address, port, rtcpAddress: address, rtcpPort: port },
      codec: 'PCMU',
      payloadType: PCMU,
      telephoneEventType: undefined,
      receives: new Map([[PCMU, 'PCMU']]),
      packetMs: 20,
      direction: 'sendrecv',
    };
  }

  /** Says what a browser has sent: PCM of any length. */
  say(pcm: Buffer): void {
    if (this.#isClosed) return;
    this.#rest = Buffer.concat([this.#rest, this.#toTelephone.push(pcm)]);
    while (this.#rest.length >= FRAME) {
      this.#send(this.#rest.subarray(0, FRAME));
      this.#rest = this.#rest.subarray(FRAME);
    }
  }

  #send(frame: Buffer): void {
    const packet = Buffer.allocUnsafe(HEADER + FRAME);
    const [sequence, timestamp] = [this.#sequence & 0xffff, (this.#sequence * FRAME) >>> 0];
    writeRtpHeader(packet, { payloadType: PCMU, marker: this.#sequence === 0, sequence, timestamp, ssrc: this.#ssrc });
    frame.copy(packet, HEADER);
    this.#sequence += 1;
    this.#socket.send(packet, this.#port, this.#address);
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.close();
  }
}
