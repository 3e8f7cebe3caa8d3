import { answerPlace, type ScriptStep, type Utterance } from '../media/script/script.ts';
import type { ScriptConnection } from '../telephony/agent-connection.ts';
import { answeringOf, type Briefing, inOneLine } from './briefing.ts';
import type { Sound, VoiceEnd } from './sound.ts';
import type { Voice } from './voice.ts';

/** Of one sentence, in characters. */
const MOST_TEXT = 2000;
/** Of all sentences of a call. */
const MOST_TEXTS = 20_000;
/** How long a caller waits for its sentences, in ms. */
const READY_MS = 4000;

/** A script that takes calls. What it says is made while the phone rings. */
export class ScriptAgent implements Voice {
  readonly agentId: string;
  readonly joinsAt = 'ringing';
  readonly #connection: ScriptConnection;
  readonly #briefing: Briefing;

  constructor(connection: ScriptConnection, briefing: Briefing) {
    this.agentId = briefing.agentId;
    this.#connection = connection;
    this.#briefing = briefing;
  }

  async join(sound: Sound): Promise<VoiceEnd | undefined> {
    const { language, voice, steps } = this.#connection;
    const { fill, variables = {}, far, isFollowed = false } = this.#briefing;
    // What nobody has answered yet is a place that no value can look like: those have no control characters.
    const places = new Map(steps.flatMap(({ id, type }) => (type === 'ask' ? [[answerPlace(id), id]] : [])));
    const known = { ...variables, ...Object.fromEntries([...places].map(([place, id]) => [id, place])) };
    const keptTexts = new Set<string>();
    let left = MOST_TEXTS;
    const written = (value: string) => (places.has(value) ? value : inOneLine(value));
    const filled = (text: string) => {
      if (!text.includes('{{')) keptTexts.add(text);
      const said = fill(text, known, written).slice(0, Math.min(MOST_TEXT, left));
      left -= said.length;
      return said;
    };
    const ask = { steps: steps.map((step) => filledStep(step, filled)), variables, language, voice, isFollowed };
    const answering = answeringOf(this.#briefing);
    const readyMs = far === 'caller' ? READY_MS : 0;
    const found = await sound.speak('script', { ...ask, answering, keptTexts: [...keptTexts], readyMs }, readyMs);
    return found.connected ? undefined : { reason: found.reason, text: found.text };
  }
}

type Fill = (text: string) => string;

const filledUtterance = <T extends Utterance>(utterance: T, fill: Fill): T =>
  utterance.text === undefined ? utterance : { ...utterance, text: fill(utterance.text) };

function filledStep(step: ScriptStep, fill: Fill): ScriptStep {
  if (step.type === 'say') return filledUtterance(step, fill);
  if (step.type === 'ask') {
    const { wrong, nothing } = step;
    return {
      ...filledUtterance(step, fill),
      ...(wrong && { wrong: filledUtterance(wrong, fill) }),
      ...(nothing && { nothing: filledUtterance(nothing, fill) }),
    };
  }
  if (step.type !== 'set' || !step.data) return step;
  return { ...step, data: Object.fromEntries(Object.entries(step.data).map(([name, text]) => [name, fill(text)])) };
}
