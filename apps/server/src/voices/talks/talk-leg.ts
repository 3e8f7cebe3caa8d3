import { isDigit } from '@trunkline/media';
import { WebSocket } from 'ws';
import type { EndedCall, Ending, Leg, LegInput, Unready, Wire } from '../../lines/conversation/leg.ts';
import type { Sound } from '../../lines/conversation/sound.ts';
import { AgentBudget } from '../../lines/media/agent-budget.ts';
import type { DigitsSent } from '../../lines/media/digits.ts';
import { TalkLine } from './talk-line.ts';

/** What waits to be sent is at most two seconds of sound; what is beyond that is left out. */
const MOST_WAITING = 64_000;

/** What a talk is told beside sound. */
export type ToldOfTalk =
  | { event: 'answered' }
  /** What was said so far in a turn. */
  | { event: 'turn'; item: string; role: string; text: string }
  /** What the agent has asked the server for, and what came of it. */
  | { event: 'request'; request: object; answer?: unknown }
  | { event: 'ended'; outcome: string; endedBy: string; agentEnd?: object };

/** A browser in the place of a telephone: it sends and hears PCM over a WebSocket that it has opened. */
export class TalkLeg implements Leg {
  readonly far = 'caller';
  readonly #socket: WebSocket;
  readonly #address: string;
  readonly #tell: (input: LegInput) => void;
  readonly #budget = new AgentBudget(performance.now());
  #line: TalkLine | undefined;
  #isAnswered = false;
  #isOver = false;

  /** @param address of this machine, by which the media threads are reached */
  constructor(socket: WebSocket, address: string, tell: (input: LegInput) => void) {
    this.#socket = socket;
    this.#address = address;
    this.#tell = tell;
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#take(data, isBinary));
    socket.on('close', () => this.#ended('far'));
  }

  async prepare(sound: Sound): Promise<Unready | undefined> {
    try {
      const port = await sound.open();
      this.#line = await TalkLine.open(this.#address, port, (pcm) => this.#hear(pcm));
      if (this.#isOver) this.#line.close();
      await sound.setStream(this.#line.stream, [this.#address]);
      return undefined;
    } catch (error) {
      return { why: 'no_room', text: (error as Error).message };
    }
  }

  #hear(pcm: Buffer): void {
    if (this.#isAnswered && this.#socket.bufferedAmount < MOST_WAITING) this.#socket.send(pcm);
  }

  #take(data: Buffer, isBinary: boolean): void {
    // A browser sends as much as it hears: one that sends far more has no use for it.
    if (this.#budget.spend(data.length, performance.now()) > 0) this.#socket.close(1008, 'It sent too much.');
    else if (isBinary) this.#line?.say(data);
    else this.#do(data);
  }

  #do(data: Buffer): void {
    const said = read(data);
    if (said?.event === 'digit' && isDigit(said.digit)) this.#tell({ type: 'digit', digit: said.digit });
    if (said?.event === 'hang_up') this.#ended('far');
  }

  connect(): void {
    this.#isAnswered = true;
    this.say({ event: 'answered' });
    this.#tell({ type: 'answered' });
  }

  async agree(): Promise<boolean> {
    return true;
  }

  /** Tells the browser something. */
  say(told: ToldOfTalk): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(told));
  }

  /** The same, but to a browser that reads too slowly: what comes later says it all again. */
  sayIfHeard(told: ToldOfTalk): void {
    if (this.#socket.bufferedAmount < MOST_WAITING) this.say(told);
  }

  /** Tells how it ended. @param openMs for so long it may still be told what the agent asks for after that */
  over({ outcome, endedBy, agentEnd }: EndedCall, openMs: number): void {
    this.say({ event: 'ended', outcome, endedBy, ...(agentEnd && { agentEnd }) });
    if (openMs === 0) this.#socket.close(1000);
    else setTimeout(() => this.#socket.close(1000), openMs).unref();
  }

  end(_as: Ending): void {
    this.#ended('us');
  }

  #ended(by: 'us' | 'far'): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#line?.close();
    if (this.#isAnswered) this.#tell({ type: 'leg_ended', end: { kind: 'hung_up', by } });
    else this.#tell({ type: 'leg_ended', end: by === 'far' ? { kind: 'cancelled', by } : { kind: 'rejected' } });
  }

  /** A browser hears them as tones. */
  sendDigits(digits: string, sound: Sound): Promise<DigitsSent> {
    return sound.sendDigits(digits);
  }

  /** Nothing of a talk is kept for other processes. */
  async keepTimes(): Promise<void> {}

  async keepEnd(): Promise<void> {}

  wire(): Wire {
    return {};
  }
}

interface Said {
  event?: unknown;
  digit?: unknown;
}

function read(data: Buffer): { event: unknown; digit: string } | undefined {
  try {
    const said = JSON.parse(data.toString()) as Said | null;
    return { event: said?.event, digit: String(said?.digit ?? '') };
  } catch {
    return undefined;
  }
}
