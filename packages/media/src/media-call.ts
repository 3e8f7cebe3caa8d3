import type { AudioStream } from './audio-stream.ts';
import { BYTES_PER_MS, ULAW_SILENCE } from './g711.ts';
import { Hearing } from './hearing.ts';
import type { CallOptions, MediaEvent, MediaStats } from './media-events.ts';
import { OutboundAudio } from './outbound-audio.ts';
import type { Paced, Pacer } from './pacer.ts';
import { RtcpPeer } from './rtcp-peer.ts';
import { RtpLine } from './rtp-line.ts';
import { Speaking } from './speaking.ts';
import { AGENT, CALLEE, StereoWav } from './stereo-wav.ts';
import { digitsMs } from './telephone-event.ts';
import type { Speech, Voice } from './voice.ts';

/** Digits that could not be sent by so much later, as in a hold, are left out. */
const MOST_LATE_MS = 3000;
/** What the callee's side tells of a digit is not another one if it was heard so shortly before. */
const TOLD_TWICE_MS = 1000;

/** What all calls of a thread share. */
export interface CallDeps {
  pacer: Pacer;
  /** Judges the addresses that media are sent to. */
  isOpenAddress: (address: string, trusted: readonly string[]) => boolean;
  emit: (event: MediaEvent) => void;
  /** Asks the process something, for a voice. */
  ask: Speech['ask'];
}

/** One call: RTP on one side, a voice on the other, and perhaps a recording of both. */
export class MediaCall implements Paced {
  #deps: CallDeps;
  #options: CallOptions;
  #hearing: Hearing;
  #outbound = new OutboundAudio();
  #rtcp: RtcpPeer;
  #line: RtpLine;
  #speaking: Speaking;
  #recording: StereoWav | undefined;
  #stream: AudioStream | undefined;
  #endPacing: (() => void) | undefined;
  #isAnswered = false;
  /** The last one that was heard in what came, and when. */
  #lastDigit: { digit: string; at: number } | undefined;
  #isHeard = false;

  constructor(options: CallOptions, deps: CallDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#hearing = new Hearing(options.silenceMs, deps.emit);
    this.#speaking = new Speaking(deps, () => this.#endPacing !== undefined);
    this.#rtcp = new RtcpPeer(this.#hearing.inbound, this.#outbound);
    this.#line = new RtpLine(deps.isOpenAddress, this.#rtcp, (...heard) => this.#hearing.hear(...heard));
  }

  /** @throws what `bind` answers with, such as EADDRINUSE */
  async open(): Promise<void> {
    await this.#line.open(this.#options.host, this.#options.rtpPort);
  }

  /** Takes what signalling has agreed on: at first, after a re-INVITE, for a hold and its end. */
  setStream(stream: AudioStream, trusted: readonly string[], networks: readonly string[]): void {
    const now = performance.now();
    const before = this.#stream;
    this.#stream = stream;
    this.#hearing.expect(stream, now);
    if (this.#line.encryption.agree(stream.srtp)) this.#outbound.restart();
    this.#line.describe(stream, trusted, networks, now);
    if (before?.packetMs === stream.packetMs) return;
    this.#endPacing?.();
    this.#endPacing = this.#deps.pacer.add(this, stream.packetMs);
  }

  /** The callee has answered: the voice hears and is heard from now on. */
  answer(recordTo?: string): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const now = performance.now();
    if (recordTo !== undefined) this.#recording = new StereoWav(recordTo);
    this.#hearing.answer(
      {
        frame: (ulaw) => {
          this.#recording?.write(CALLEE, ulaw);
          this.#tell('callee', ulaw);
          this.#speaking.hear(ulaw);
        },
        digit: (digit) => {
          if (this.#outbound.echoes(digit)) return;
          this.#lastDigit = { digit, at: performance.now() };
          this.#takeDigit(digit);
        },
      },
      now,
    );
    this.#line.answer(now);
    this.#speaking.answer(now);
  }

  /** A digit that the callee's side tells by INFO. */
  digit(digit: string): void {
    this.#hearing.tellsDigits();
    const heard = this.#lastDigit;
    // It may send the first one as a tone, too.
    if (heard?.digit === digit && performance.now() - heard.at < TOLD_TWICE_MS) this.#lastDigit = undefined;
    else this.#takeDigit(digit);
  }

  #takeDigit(digit: string): void {
    this.#speaking.hear(digit);
    this.#deps.emit({ type: 'digit', digit });
  }

  /**
   * Sends digits and pauses, one after the other.
   * @throws Error if they could not be sent in time, or the call has ended
   */
  sendDigits(digits: string): Promise<void> {
    const sender = this.#outbound.digits;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => sender.drop(), digitsMs(digits) + MOST_LATE_MS);
      sender.add(digits, (isSent) => {
        clearTimeout(late);
        if (isSent) resolve();
        else reject(new Error('The digits could not be sent: no sound goes to the far side now.'));
      });
    });
  }

  /** Whether what both sides say is told. */
  listen(isHeard: boolean): void {
    this.#isHeard = isHeard;
  }

  #tell(side: 'callee' | 'voice', ulaw: Buffer): void {
    // A copy: with a view all of the memory behind it would be sent.
    if (this.#isHeard) this.#deps.emit({ type: 'sound', side, ulaw: new Uint8Array(ulaw) });
  }

  /** Gives the call a voice, in place of the one that it has. @returns what the voice answers when it is `opened` */
  async speak(open: (speech: Speech) => Voice | Promise<Voice>): Promise<unknown> {
    return await this.#speaking.take(open);
  }

  play(now: number): void {
    const stream = this.#stream!;
    const { packetMs, direction } = stream;
    this.#hearing.tick(now);
    this.#line.listenAround(this.#hearing.heardAt, now);
    const ulaw = Buffer.allocUnsafe(packetMs * BYTES_PER_MS);
    const isTalking = this.#speaking.next(ulaw);
    this.#recording?.write(AGENT, ulaw);
    if (this.#isAnswered) this.#tell('voice', ulaw);
    const isSent = this.#send(ulaw, isTalking, stream, now);
    this.#line.report(now);
    this.#speaking.said(packetMs, isSent, direction !== 'sendrecv', now);
  }

  /** @returns whether it was sent */
  #send(ulaw: Buffer, isTalking: boolean, stream: AudioStream, now: number): boolean {
    const sends = this.#line.takesSound(now) && (stream.direction === 'sendrecv' || stream.direction === 'sendonly');
    if (sends) this.#line.send(this.#outbound.packet(ulaw, isTalking, stream));
    else this.#outbound.pass(stream.packetMs);
    return sends;
  }

  skip(turns: number): void {
    const ms = turns * this.#stream!.packetMs;
    this.#outbound.pass(ms);
    this.#recording?.write(AGENT, Buffer.alloc(ms * BYTES_PER_MS, ULAW_SILENCE));
  }

  get stats(): MediaStats {
    const { reception, heardAt } = this.#hearing.inbound;
    return {
      packetsReceived: reception.received,
      packetsLost: reception.lost,
      packetsSent: this.#outbound.sent,
      packetsLostByPeer: this.#rtcp.lostByPeer,
      codec: this.#stream?.codec,
      remoteAddress: heardAt === undefined ? undefined : this.#line.followed,
      encryption: this.#line.encryption.suite,
      packetsRefused: this.#line.counts.refused + this.#line.encryption.counts.replayed,
      packetsUndeciphered: this.#line.encryption.counts.undeciphered,
      malformedPackets: this.#line.counts.malformed,
      ...this.#speaking.stats,
    };
  }

  /** Ends the call's media: the voice is told, the peer gets BYE, the recording is written to its end. */
  async close(): Promise<MediaStats> {
    this.#endPacing?.();
    this.#outbound.digits.drop();
    const voiceEnd = this.#speaking.close();
    const stats = { ...this.stats, ...(voiceEnd !== undefined && { voiceEnd }) };
    this.#line.close();
    const recording = this.#recording;
    if (!recording) return stats;
    const samples = await recording.close();
    return { ...stats, recording: { ms: Math.round(samples / BYTES_PER_MS), failure: recording.failure?.message } };
  }
}
