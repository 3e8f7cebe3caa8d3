import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AudioStream, FRAME, pcmToUlaw, Resampler, readRtp, ulawPcm, writeRtpHeader } from '@trunkline/media';

const PCMU = 0;
const HEADER = 12;
const TELEPHONE = 8000;
/** What a browser sends and gets, in Hz: PCM of 16 bits, little-endian. */
const BROWSER = 16_000;

/** The sound of a talk, between a browser's PCM and the media thread, to which it is a peer like any other. */
export class TalkLine {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #port: number;
  readonly #toTelephone = new Resampler(BROWSER, TELEPHONE);
  readonly #toBrowser = new Resampler(TELEPHONE, BROWSER);
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
      if (packet?.payloadType === PCMU) heard(this.#forBrowser(packet.payload));
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

  #forBrowser(ulaw: Buffer): Buffer {
    const samples = this.#toBrowser.push(Float32Array.from(ulaw, (each) => ulawPcm[each]!));
    return toPcm(samples);
  }

  /** Says what a browser has sent: PCM of any length. */
  say(pcm: Buffer): void {
    if (this.#isClosed) return;
    const samples = Float32Array.from({ length: pcm.length >> 1 }, (_, at) => pcm.readInt16LE(2 * at));
    const ulaw = Buffer.from(Uint8Array.from(this.#toTelephone.push(samples), (each) => pcmToUlaw(clamped(each))));
    this.#rest = Buffer.concat([this.#rest, ulaw]);
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

const clamped = (sample: number) => Math.max(-32_768, Math.min(32_767, Math.round(sample)));

function toPcm(samples: Float32Array): Buffer {
  const pcm = Buffer.allocUnsafe(2 * samples.length);
  for (const [at, sample] of samples.entries()) pcm.writeInt16LE(clamped(sample), 2 * at);
  return pcm;
}
