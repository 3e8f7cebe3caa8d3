import { type AudioStream, isUnspecified } from './audio-stream.ts';
import { BYTES_PER_MS, ULAW_SILENCE } from './g711.ts';
import { InboundAudio } from './inbound-audio.ts';
import type { CallOptions, MediaEvent, MediaStats } from './media-events.ts';
import { OutboundAudio } from './outbound-audio.ts';
import type { Paced, Pacer } from './pacer.ts';
import { type Endpoint, PeerSource } from './peer-source.ts';
import { Playout } from './playout.ts';
import { RtcpPeer } from './rtcp-peer.ts';
import { readRtp } from './rtp.ts';
import { openRtpSockets, type RtpSockets } from './rtp-sockets.ts';
import { AGENT, CALLEE, StereoWav } from './stereo-wav.ts';
import { Turns } from './turns.ts';
import type { Speech, Voice } from './voice.ts';

/** While the source is silent for this long, others are listened to again. */
const LISTEN_MS = 200;
/** What is kept of it: five seconds. */
const MAX_UNHEARD = 250;
/** What a voice that has hung up had said before is played for this long at most. */
const FAREWELL_MS = 10_000;

/** What all calls of a thread share. */
export interface CallDeps {
  pacer: Pacer;
  /** Judges the addresses that media are sent to. */
  isOpenAddress: (address: string, trusted: readonly string[]) => boolean;
  emit: (event: MediaEvent) => void;
}

/** One call: RTP on one side, a voice on the other. */
export class MediaCall implements Paced {
  #deps: CallDeps;
  #options: CallOptions;
  #sockets: RtpSockets | undefined;
  #trusted: readonly string[] = [];
  #source = new PeerSource((address) => this.#deps.isOpenAddress(address, this.#trusted));
  #isConnected = false;
  #isClosed = false;
  #inbound = new InboundAudio();
  #outbound = new OutboundAudio();
  #rtcp: RtcpPeer;
  #playout = new Playout((name) => this.#voice?.mark(name));
  #turns = new Turns();
  #voice: Voice | undefined;
  /** What the callee has said and pressed since the answer, for a voice that is still to come. */
  #unheard: (Buffer | string)[] = [];
  #stream: AudioStream | undefined;
  #endPacing: (() => void) | undefined;
  #answeredAt: number | undefined;
  /** Since when sound is to be expected: the answer, or the end of a hold. */
  #expectsSince = 0;
  #hasToldSilence = false;
  /** What a voice that has hung up is told of with, and when at the latest. */
  #farewell: { end: unknown; until: number } | undefined;
  /** Of what the voice said and nobody was sent. */
  #unheardMs = 0;
  #recording: StereoWav | undefined;
  #counts = { refused: 0, malformed: 0 };

  constructor(options: CallOptions, deps: CallDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#rtcp = new RtcpPeer(this.#inbound, this.#outbound);
  }

  /** @throws what `bind` answers with, such as EADDRINUSE */
  async open(): Promise<void> {
    const { host, rtpPort } = this.#options;
    this.#sockets = await openRtpSockets(
      host,
      rtpPort,
      (datagram, from) => this.#receive(datagram, from),
      (datagram, from) => {
        if (this.#source.isKnown(from.address)) this.#rtcp.receive(datagram, from, performance.now());
      },
    );
  }

  /** Takes what signalling has agreed on: at first, after a re-INVITE, for a hold and its end. */
  setStream(stream: AudioStream, trusted: readonly string[]): void {
    const now = performance.now();
    const before = this.#stream;
    this.#stream = stream;
    this.#trusted = trusted;
    this.#inbound.expect(stream.receives);
    if (!isUnspecified(stream.remote.address) && this.#source.describe(stream.remote, now)) {
      this.#connectTo(undefined);
      this.#rtcp.describe({ address: stream.remote.rtcpAddress, port: stream.remote.rtcpPort });
    }
    if (before?.direction !== stream.direction) this.#expectsSince = now;
    if (before?.packetMs !== stream.packetMs) {
      this.#endPacing?.();
      this.#endPacing = this.#deps.pacer.add(this, stream.packetMs);
    }
  }

  /** The callee has answered: the voice hears and is heard from now on. */
  answer(recordTo?: string): void {
    if (this.#answeredAt !== undefined) return;
    const now = performance.now();
    this.#answeredAt = now;
    this.#expectsSince = now;
    this.#turns.answer(now);
    if (recordTo !== undefined) this.#recording = new StereoWav(recordTo);
    this.#inbound.listen(
      {
        frame: (ulaw) => {
          this.#recording?.write(CALLEE, ulaw);
          this.#turns.heard(ulaw, performance.now());
          this.#hear(ulaw);
        },
        digit: (digit) => this.digit(digit),
      },
      now,
    );
    this.#voice?.start();
  }

  /** A digit of the callee, heard here or told by INFO. */
  digit(digit: string): void {
    this.#turns.pressed(performance.now());
    this.#hear(digit);
    this.#deps.emit({ type: 'digit', digit });
  }

  #hear(heard: Buffer | string): void {
    if (!this.#voice) {
      this.#unheard.push(heard);
      if (this.#unheard.length > MAX_UNHEARD) this.#unheard.shift();
    } else if (typeof heard === 'string') this.#voice.digit(heard);
    else this.#voice.hear(heard);
  }

  #takeVoice(voice: Voice): void {
    this.#voice?.close();
    this.#voice = voice;
    if (this.#answeredAt !== undefined) voice.start();
    for (const heard of this.#unheard.splice(0)) this.#hear(heard);
  }

  sendDigits(digits: string): void {
    this.#outbound.digits.add(digits);
  }

  /** Gives the call a voice, in place of the one that it has. @returns what the voice answers when it is `opened` */
  async speak(open: (speech: Speech) => Voice | Promise<Voice>): Promise<unknown> {
    const voice = await open({
      playout: this.#playout,
      turns: this.#turns,
      end: (end, after) => {
        this.#farewell = { end, until: after === 'said' ? performance.now() + FAREWELL_MS : 0 };
        if (after === 'now' || !this.#endPacing) this.#sayFarewell(Number.POSITIVE_INFINITY);
      },
    });
    if (this.#isClosed) {
      voice.close();
      throw new Error('The call is closed.');
    }
    this.#takeVoice(voice);
    return await voice.opened?.();
  }

  #sayFarewell(now: number): void {
    if (!this.#farewell) return;
    const { end, until } = this.#farewell;
    if (this.#playout.queued > 0 && this.#answeredAt !== undefined && now < until) return;
    this.#farewell = undefined;
    this.#playout.drop();
    this.#deps.emit({ type: 'voice_ended', end });
  }

  #receive(datagram: Buffer, from: Endpoint): void {
    const packet = readRtp(datagram);
    if (!packet) {
      this.#counts.malformed += 1;
      return;
    }
    const now = performance.now();
    const heard = this.#source.hear(from, packet, now);
    if (heard === 'refused') {
      this.#counts.refused += 1;
      return;
    }
    if (heard === 'new') this.#inbound.restart();
    if (!this.#isConnected) this.#connectTo(from);
    if (this.#inbound.heardAt === undefined)
      this.#deps.emit({ type: 'first_packet', from: `${from.address}:${from.port}` });
    this.#hasToldSilence = false;
    this.#inbound.hear(packet, now);
  }

  #connectTo(source: Endpoint | undefined): void {
    this.#sockets?.connectTo(source);
    this.#isConnected = source !== undefined;
  }

  play(now: number): void {
    const stream = this.#stream!;
    this.#inbound.tick(now);
    this.#watch(now, stream);
    const ulaw = Buffer.allocUnsafe(stream.packetMs * BYTES_PER_MS);
    const isTalking = this.#answeredAt !== undefined && this.#playout.next(ulaw);
    if (this.#answeredAt === undefined) ulaw.fill(ULAW_SILENCE);
    this.#recording?.write(AGENT, ulaw);
    const isSent = this.#send(ulaw, isTalking, stream, now);
    if (this.#playout.sounding) this.#noteSaid(isSent, stream, now);
    if (stream.direction !== 'sendrecv' || this.#playout.hasSound) this.#turns.rest(now);
    this.#sayFarewell(now);
  }

  #noteSaid(isSent: boolean, { packetMs }: AudioStream, now: number): void {
    if (isSent) this.#turns.said(now);
    else this.#unheardMs += packetMs;
  }

  /** @returns whether it was sent */
  #send(ulaw: Buffer, isTalking: boolean, stream: AudioStream, now: number): boolean {
    const { target } = this.#source;
    const sends = target !== undefined && (stream.direction === 'sendrecv' || stream.direction === 'sendonly');
    if (sends) this.#sockets?.sendRtp(this.#outbound.packet(ulaw, isTalking, stream), target);
    else this.#outbound.pass(stream.packetMs);
    const report = target && this.#rtcp.due(now, target);
    if (report) this.#sockets?.sendRtcp(report.packet, report.to);
    return sends;
  }

  skip(ms: number): void {
    this.#outbound.pass(ms);
    this.#recording?.write(AGENT, Buffer.alloc(ms * BYTES_PER_MS, ULAW_SILENCE));
  }

  #watch(now: number, { direction }: AudioStream): void {
    const heardAt = this.#inbound.heardAt ?? 0;
    if (this.#isConnected && now - heardAt > LISTEN_MS) this.#connectTo(undefined);
    if (this.#answeredAt === undefined || direction !== 'sendrecv' || this.#hasToldSilence) return;
    if (now - Math.max(heardAt, this.#expectsSince) < this.#options.silenceMs) return;
    this.#hasToldSilence = true;
    this.#deps.emit({ type: 'no_media', heardBefore: this.#inbound.heardAt !== undefined });
  }

  get stats(): MediaStats {
    const { reception, heardAt } = this.#inbound;
    const followed = this.#source.followed;
    return {
      packetsReceived: reception.received,
      packetsLost: reception.lost,
      packetsSent: this.#outbound.state.packets,
      packetsLostByPeer: this.#rtcp.lostByPeer,
      codec: this.#stream?.codec,
      remoteAddress: heardAt !== undefined && followed ? `${followed.address}:${followed.port}` : undefined,
      packetsRefused: this.#counts.refused,
      malformedPackets: this.#counts.malformed,
      firstSoundMs: this.#turns.firstSoundMs,
      soundLeftOutMs: Math.round(this.#playout.leftOut / BYTES_PER_MS) + this.#unheardMs,
      calleeSpoke: this.#turns.calleeSpoke,
      voice: this.#voice?.counts?.() ?? {},
    };
  }

  /** Ends the call's media: the voice is told, the peer gets BYE, the recording is written to its end. */
  async close(): Promise<MediaStats> {
    this.#isClosed = true;
    this.#endPacing?.();
    const voiceEnd = this.#voice?.close();
    this.#playout.drop();
    const stats = { ...this.stats, ...(voiceEnd !== undefined && { voiceEnd }) };
    const bye = this.#source.target && this.#rtcp.bye();
    if (bye) this.#sockets?.sendRtcp(bye.packet, bye.to);
    this.#sockets?.close();
    this.#sockets = undefined;
    const recording = this.#recording;
    if (!recording) return stats;
    const samples = await recording.close();
    return { ...stats, recording: { ms: Math.round(samples / BYTES_PER_MS), failure: recording.failure?.message } };
  }
}
