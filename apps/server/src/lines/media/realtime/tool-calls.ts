import type { Speech } from '@trunkline/media';
import type { ModelTool } from './speech-model.ts';

/** What came of a tool. */
interface Outcome {
  /** What the model is told. */
  output: string;
  /** What stands in the transcript behind its call. */
  note: string;
}

/** A call that is at work, or that the model has taken back since. */
interface Call {
  /** Its tool and its arguments. */
  asked: string;
  outcome: Promise<Outcome>;
}

/** What the process answers to a call of a tool. */
export interface ToolAnswer {
  output: string;
  /** Whether it has done what was asked. */
  isDone: boolean;
}

/** Calls in a second that are carried out, and of one call of a telephone. */
const MOST_A_SECOND = 5;
const MOST_A_CALL = 200;
/** Calls that are not, after which the model's part is over. */
const MOST_REFUSED = 1000;
const MOST_AT_ONCE = 8;
/** Of arguments and answers, in characters. */
const MOST_ARGUMENTS = 32_768;
const MOST_OUTPUT = 32_768;
const MOST_NOTED = 1000;

/** The tools that the model of a call uses: how often, how large, and what came of it. */
export class ToolCalls {
  #names: Set<string>;
  #ask: Speech['ask'];
  #done = 0;
  #refused = 0;
  #atOnce = 0;
  #second = { from: Number.NEGATIVE_INFINITY, calls: 0 };
  #atWork = new Map<string, Call>();
  /** What came of calls that the model has taken back, by what they asked: nothing is undone, so the same call isn't carried out again. */
  #takenBack = new Map<string, Call>();
  /** Those that have done what was asked, and who waits for them. */
  #used = new Set<string>();
  #waiting: (() => void)[] = [];
  #isGone = false;

  constructor(tools: readonly ModelTool[], ask: Speech['ask']) {
    this.#names = new Set(tools.map(({ name }) => name));
    this.#ask = ask;
  }

  /** Whether it calls tools without end. */
  get areTooMany(): boolean {
    return this.#refused > MOST_REFUSED;
  }

  get areAtWork(): boolean {
    return this.#atWork.size > 0;
  }

  hasUsed(name: string): boolean {
    return this.#used.has(name);
  }

  /** Waits until a tool was used, for so long at most. */
  async used(name: string, ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (!this.#used.has(name) && !this.#isGone && performance.now() < until)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, until - performance.now());
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
  }

  /** No more tools are called. */
  gone(): void {
    this.#isGone = true;
    for (const tell of this.#waiting.splice(0)) tell();
  }

  /** The model wants no answer to a call any more. */
  takeBack(id: string): void {
    const call = this.#atWork.get(id);
    if (!call) return;
    this.#atWork.delete(id);
    this.#takenBack.set(call.asked, call);
  }

  /**
   * Has a tool used. Nothing is thrown.
   * @param args JSON, as the model wrote it
   * @param id of the call
   * @returns also whether the model still wants to know
   */
  async use(name: string, args: string, id: string): Promise<Outcome & { isWanted: boolean }> {
    const asked = `${name} ${args}`;
    const before = this.#takenBack.get(asked);
    const refusal = before ? undefined : this.#refusal(name, args);
    if (refusal !== undefined) {
      this.#refused += 1;
      return { ...outcomeOf(refusal), isWanted: true };
    }
    const call = before ?? { asked, outcome: this.#carryOut(name, args, id) };
    this.#takenBack.delete(asked);
    this.#atWork.set(id, call);
    const outcome = await call.outcome;
    // Another session may have named a call of its own like this one meanwhile.
    return { ...outcome, isWanted: this.#atWork.get(id) === call && this.#atWork.delete(id) };
  }

  async #carryOut(name: string, args: string, id: string): Promise<Outcome> {
    this.#done += 1;
    this.#atOnce += 1;
    try {
      const { output, isDone } = (await this.#ask({ type: 'use_tool', id, name, args })) as ToolAnswer;
      if (isDone) this.#used.add(name);
      return outcomeOf(output);
    } catch (error) {
      return outcomeOf((error as Error).message);
    } finally {
      this.#atOnce -= 1;
      for (const tell of this.#waiting.splice(0)) tell();
    }
  }

  #refusal(name: string, args: string): string | undefined {
    if (!this.#names.has(name)) return 'There is no such tool.';
    if (args.length > MOST_ARGUMENTS) return `The arguments have more than ${MOST_ARGUMENTS} characters.`;
    if (this.#done >= MOST_A_CALL) return 'No more tools can be used in this call.';
    const now = performance.now();
    if (now - this.#second.from >= 1000) this.#second = { from: now, calls: 0 };
    this.#second.calls += 1;
    const isTooFast = this.#second.calls > MOST_A_SECOND || this.#atOnce >= MOST_AT_ONCE;
    return isTooFast ? 'Too many tools were used at once. Wait a second.' : undefined;
  }
}

const outcomeOf = (output: string): Outcome => ({
  output: output.slice(0, MOST_OUTPUT),
  note: `: ${output.slice(0, MOST_NOTED)}`,
});

/** What stands in the transcript of a call of a tool before anything has come of it. */
export const callNote = (name: string, args: string): string => `${name.slice(0, 64)} ${args.slice(0, MOST_NOTED)}`;
