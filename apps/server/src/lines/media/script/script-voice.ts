import { SAMPLE_RATE, type Speech } from '@trunkline/media';
import type { StreamEnd } from '../agent-end.ts';
import type { AgentConnected } from '../agent-stream.ts';
import type { NewsOfAnswerer, TellableVoice } from '../answered/answered-voice.ts';
import { newsInWords } from '../answered/news-in-words.ts';
import type { DigitsSent } from '../digits.ts';
import { transcriptFor } from '../live-turns.ts';
import type { Transcript } from '../transcript.ts';
import { utterancesOf } from './check-script.ts';
import { type ScriptStep, type Utterance, waysOf } from './script.ts';
import { beginning, type ScriptResult, type Walk, type WalkEffect, type WalkInput, walkOn } from './walk.ts';

/** A script, and for whom: its texts are filled in. It can be sent to another thread. */
export interface ScriptAsk {
  steps: readonly ScriptStep[];
  variables: Record<string, unknown>;
  language: string;
  voice?: string | undefined;
  /** Texts that are the same for everybody. */
  keptTexts: readonly string[];
  /** How long its sentences may take before it is there: a caller hears it ring meanwhile. */
  readyMs: number;
  /** Whether what is said is told at once. */
  isFollowed?: boolean;
}

/** Sound that all threads share: µ-law. */
export type SharedSound = SharedArrayBuffer;

/** A sentence that isn't there yet is waited for so long, once its turn has come. */
const READY_MS = 1000;
/** What is given to be played at once, in bytes, and how many of these lie ahead. */
const SLICE = 5 * SAMPLE_RATE;
const SLICES_AHEAD = 2;

/** A script as the voice of a call. What it says is made while the phone rings. */
export class ScriptVoice implements TellableVoice {
  #ask: ScriptAsk;
  #speech: Speech;
  #walk: Walk = beginning;
  /** Once all sentences are there, or can't be had. */
  #made: Promise<unknown>;
  #transcript: Transcript;
  /** Bytes that were given to be played. */
  #taken = 0;
  /** What is being said, and how much of it has been given to be played. */
  #saying: { ulaw: Buffer; given: number } | undefined;
  /** How often something was said: what comes of an earlier sentence counts no more. */
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;
  #isHushed = false;
  #end: StreamEnd | undefined;
  /** What was last asked to be kept, and whether it is. */
  #kept: Promise<boolean> = Promise.resolve(true);
  #result: ScriptResult = {};
  #counts = { sentencesSaid: 0, sentencesLeftOut: 0 };

  constructor(ask: ScriptAsk, speech: Speech) {
    this.#ask = ask;
    this.#speech = speech;
    this.#transcript = transcriptFor(speech, ask.isFollowed);
    const made = ask.steps.flatMap(utterancesOf).map(async ({ utterance }) => void (await this.#soundOf(utterance)));
    this.#made = Promise.all(made);
  }

  /** The process has it, and keeps it, within bounds; here it is held while it is said. One that can't be had is nothing. */
  async #soundOf({ text, soundId }: Utterance): Promise<Buffer | undefined> {
    const { language, voice, keptTexts } = this.#ask;
    if (soundId === undefined && text!.trim() === '') return Buffer.alloc(0);
    const what =
      soundId === undefined
        ? { type: 'speech', text, language, voice, isKept: keptTexts.includes(text!) }
        : { type: 'sound', soundId };
    return this.#speech.ask(what).then(
      (shared) => Buffer.from(shared as SharedSound),
      () => undefined,
    );
  }

  /** Has ready again what may be said next, if it is for this person: more may have been made meanwhile than is kept. */
  #prepareNext(): void {
    const { steps, keptTexts } = this.#ask;
    const next = new Set<number>();
    const from = new Set([this.#walk.at]);
    for (const index of from)
      for (const { to } of waysOf(steps, index)) {
        const at = steps.findIndex(({ id }) => id === to);
        if (at >= 0) (utterancesOf(steps[at]!).length > 0 ? next : from).add(at);
      }
    for (const { utterance } of [...next].flatMap((at) => utterancesOf(steps[at]!)))
      if (utterance.text !== undefined && !keptTexts.includes(utterance.text)) void this.#soundOf(utterance);
  }

  start(): void {
    this.#tell({ type: 'began' });
  }

  hear(): void {}

  digit(digit: string): void {
    if (this.#end) return;
    this.#transcript.note(Date.now(), `The key ${digit} was pressed.`);
    this.#tell({ type: 'key', key: digit });
  }

  /** What steps compare, as `answeredBy`; a message is the script from its beginning. */
  answeredBy(news: NewsOfAnswerer): void {
    if (this.#end) return;
    const words = newsInWords(news);
    if (words !== undefined) this.#transcript.note(Date.now(), words);
    if (news.event === 'answered_by') {
      const variables = { ...this.#ask.variables, answeredBy: news.answeredBy };
      this.#ask = { ...this.#ask, variables };
    } else this.#startAgain();
  }

  /** What is not heard is not walked: else it would sign off or hang up as if somebody had heard it. */
  hushed(isHushed: boolean): void {
    if (this.#end) return;
    if (isHushed) {
      this.#isHushed = true;
      clearTimeout(this.#timer);
      this.#hush();
    } else this.#startAgain();
  }

  #startAgain(): void {
    this.#isHushed = false;
    clearTimeout(this.#timer);
    this.#hush();
    this.#walk = beginning;
    this.#tell({ type: 'began' });
  }

  #tell(input: WalkInput): void {
    if (this.#isHushed) return;
    const { walk, effects } = walkOn(this.#ask, this.#walk, input);
    this.#walk = walk;
    for (const effect of effects) this.#do(effect);
  }

  #do<Does extends WalkEffect['do']>(effect: Extract<WalkEffect, { do: Does }>): void {
    this.#effects[effect.do](effect as never);
  }

  readonly #effects: { [Does in WalkEffect['do']]: (effect: Extract<WalkEffect, { do: Does }>) => void } = {
    say: ({ utterance }) => void this.#say(utterance),
    hush: () => this.#hush(),
    wait: ({ seconds }) => this.#wait(seconds),
    wait_no_more: () => clearTimeout(this.#timer),
    keep: ({ result }) => this.#keep(result),
    opt_out: () => void this.#serve({ type: 'record_result', result: { optOut: true } }),
    press_keys: ({ digits }) => void this.#serve({ type: 'send_digits', digits }),
    call_back: ({ do: _do, ...when }) => void this.#serve({ type: 'call_back', ...when }),
    end: ({ fault }) => this.#over(fault),
  };

  async #say(utterance: Utterance): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    const ulaw = await soon(this.#soundOf(utterance), READY_MS);
    if (turn !== this.#turn || this.#end) return;
    if (!ulaw) {
      this.#counts.sentencesLeftOut += 1;
      this.#transcript.note(Date.now(), 'A sentence was left out: it was not ready.');
      return this.#tell({ type: 'said' });
    }
    if (ulaw.length === 0) return this.#tell({ type: 'said' });
    this.#counts.sentencesSaid += 1;
    const item = `turn ${turn}`;
    this.#transcript.begin(item, 'agent', Date.now());
    this.#transcript.add(item, utterance.text ?? `(${utterance.soundId})`);
    this.#saying = { ulaw, given: 0 };
    this.#transcript.sound(item, ulaw.length, this.#taken);
    for (let slice = 0; slice < SLICES_AHEAD; slice += 1) this.#giveSlice();
    this.#prepareNext();
  }

  /** A part at a time: a long sound would lie in memory once for each call. */
  #giveSlice(): void {
    const saying = this.#saying!;
    const slice = saying.ulaw.subarray(saying.given, saying.given + SLICE);
    if (slice.length === 0) return;
    saying.given += slice.length;
    this.#taken += slice.length;
    this.#speech.playout.push(slice);
    this.#speech.playout.mark(`${this.#turn} ${saying.given}`);
  }

  mark(name: string): void {
    const [turn, heard] = name.split(' ').map(Number);
    const saying = this.#saying;
    if (turn !== this.#turn || !saying) return;
    if (heard! < saying.ulaw.length) this.#giveSlice();
    else {
      this.#saying = undefined;
      this.#tell({ type: 'said' });
    }
  }

  #hush(): void {
    this.#turn += 1;
    const isSpeaking = this.#saying !== undefined;
    this.#saying = undefined;
    if (isSpeaking) this.#transcript.cutAt(this.#taken - this.#speech.playout.queued);
    this.#taken -= this.#speech.playout.queued;
    this.#speech.playout.clear();
  }

  #wait(seconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tell({ type: 'late' }), seconds * 1000);
  }

  /** One after the other: what is told last is all that is known. */
  #keep(result: ScriptResult): void {
    this.#result = result;
    this.#kept = this.#kept.then(() => this.#record({ ...result }));
  }

  #record(result: object, over?: object): Promise<boolean> {
    return this.#speech.ask({ type: 'record_result', result, ...(over && { over }) }).then(
      () => true,
      () => false,
    );
  }

  async #serve(request: object): Promise<void> {
    const turn = this.#walk;
    const isDone = await this.#speech.ask(request).then(
      (answer) => (answer as Partial<DigitsSent> | undefined)?.isSent !== false,
      () => false,
    );
    if (this.#end || turn.at !== this.#walk.at || this.#walk.mode !== 'serving') return;
    this.#tell({ type: 'served', isDone });
  }

  #over(fault: string | undefined): void {
    if (this.#end) return;
    const text = fault ?? this.#leftOut();
    const { sentencesSaid, sentencesLeftOut } = this.#counts;
    const isFailed = fault !== undefined || (sentencesSaid === 0 && sentencesLeftOut > 0);
    this.#end = { reason: isFailed ? 'crashed' : 'hung_up', ...(text !== undefined && { text }) };
    clearTimeout(this.#timer);
    this.#speech.end(this.#end, 'said');
  }

  #leftOut(): string | undefined {
    const { sentencesLeftOut: count } = this.#counts;
    return count === 0 ? undefined : `Sentences that were not ready, and were left out: ${count}.`;
  }

  async opened(): Promise<AgentConnected> {
    const { readyMs } = this.#ask;
    if (readyMs > 0) await soon(this.#made, readyMs);
    return { connected: true };
  }

  close(): StreamEnd {
    clearTimeout(this.#timer);
    this.#turn += 1;
    if (this.#saying) this.#transcript.cutAt(this.#taken - this.#speech.playout.queued);
    this.#saying = undefined;
    const text = this.#leftOut();
    this.#end ??= { reason: 'call_ended', ...(text !== undefined && { text }) };
    void this.#finish();
    return this.#end;
  }

  /** Has kept what was said, and what could not be kept before. */
  async #finish(): Promise<void> {
    // Of who was never heard nothing is told: else it would count as having been there.
    const transcript = this.#counts.sentencesSaid > 0 ? this.#transcript.turns() : [];
    const isKept = await this.#kept;
    const result = { ...(!isKept && this.#result), ...(transcript.length > 0 && { transcript }) };
    if (Object.keys(result).length > 0) await this.#record(result, { isAll: true });
  }

  counts(): Record<string, number> {
    return this.#counts;
  }
}

/** What comes within a time; nothing if it doesn't. */
async function soon<T>(coming: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([coming, late]).finally(() => clearTimeout(timer));
}
