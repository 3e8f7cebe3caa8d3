import { isAudible } from '@trunkline/media';
import { keyHeader, openaiFault } from './openai.ts';
import { PersonTurns } from './person-turns.ts';
import { countOf, idOf, isObject, objectOf, readWords, textOf } from './read-words.ts';
import { SpeechDetector } from './speech-detector.ts';
import type { ModelEvent, ModelTool, Protocol, SessionTerms, SpeechModel } from './speech-model.ts';

const FORMAT = { type: 'audio/pcmu', rate: 8000 };
const SOUND = /"delta"\s*:\s*"/;
/** Silence of so long ends what it was saying: there is no event for that. */
const RESTS_MS = 1000;
/** What is interrupted is not heard for so long, if the callee goes on speaking and the model too. */
const HELD_MS = 3000;
/** Words that are added to a session, in bytes: it takes 500 tokens at once. */
const MOST_ADDED = 1000;
/** What a request to go on is known by, if it is refused. */
const CREATE = 'go-on';
const YOUR_TURN = 'It is your turn to speak.';

/** OpenAI's Live API (npm `openai`, `resources/live`), whose model listens while it speaks. Azure speaks it too. */
export const openaiLive: Protocol = {
  url: 'wss://api.openai.com/v1/live/sessions',
  urlOf: (url) => url,
  headersOf: keyHeader,
  session: (terms, send) => new OpenaiLive(terms, send),
};

class OpenaiLive implements SpeechModel {
  #terms: SessionTerms;
  #send: (message: object) => void;
  #person = new PersonTurns();
  #detector = new SpeechDetector();
  /** What it says has no names: it is counted. */
  #turn = 0;
  /** When it said something last, or was at work; nothing while it rests. */
  #saidAt: number | undefined;
  /** Until when what it says isn't heard, since it was interrupted; what comes then is another turn. */
  #heldUntil: number | undefined;
  #isCut = false;
  /** Whether the model that uses tools is at work, what it waits for, and whether it is to go on. */
  #isActive = false;
  #open = new Set<string>();
  #isWanted = false;

  constructor(terms: SessionTerms, send: (message: object) => void) {
    this.#terms = terms;
    this.#send = send;
  }

  begin(): void {
    const { model, backendModel, instructions, voice, tools } = this.#terms;
    const responses = {
      model: backendModel,
      instructions: `${instructions}\n\n${BACKEND}`,
      tools: tools.map((tool) => ({ type: 'function', strict: false, ...tool })),
    };
    const session = {
      ...{ model, instructions: `${instructions}\n\n${FRONTEND}\n${tools.map(listed).join('\n')}` },
      audio: { format: FORMAT, ...(voice !== undefined && { output: { voice } }) },
      ...{ delegation: { type: 'responses', responses }, store: false },
    };
    this.#send({ type: 'session.start', session });
  }

  read(message: Buffer): readonly ModelEvent[] | undefined {
    const read = readWords(message, SOUND);
    if (!read || typeof read.fields['type'] !== 'string') return undefined;
    const { fields, sound } = read;
    switch (fields['type']) {
      case 'session.started':
        return [{ type: 'ready' }];
      case 'session.output_audio.delta':
        return this.#said(Buffer.from(sound ?? textOf(fields['delta']), 'base64'));
      case 'session.output_transcript.delta':
        return [{ type: 'words', item: this.#item(), text: sound ?? textOf(fields['delta']) }];
      case 'session.input_transcript.delta':
        return [{ type: 'heard', item: this.#person.heard(), text: sound ?? textOf(fields['delta']) }];
      case 'response.event':
        return this.#worked(objectOf(fields['event']));
      case 'session.closed':
        return fields['reason'] === 'expired' ? [{ type: 'moves' }] : [];
      case 'error':
        return this.#failed(objectOf(fields['error']));
      default:
        return [];
    }
  }

  #said(ulaw: Buffer): readonly ModelEvent[] {
    // Some send silence all the time: it ends what was said, and need not be played.
    if (isAudible(ulaw)) this.#detector.tell(ulaw);
    else if (this.#isResting()) return [];
    const item = this.#item();
    if (isAudible(ulaw)) this.#saidAt = performance.now();
    return [{ type: 'sound', item, ulaw }];
  }

  #isResting(): boolean {
    return this.#saidAt === undefined || performance.now() - this.#saidAt >= RESTS_MS;
  }

  /** What it says now: a new one after a silence. */
  #item(): string {
    if (this.#heldUntil !== undefined && performance.now() >= this.#heldUntil) this.#release();
    if (this.#isResting() || this.#isCut) {
      this.#turn += 1;
      this.#heldUntil = undefined;
      this.#isCut = false;
      this.#person.answered();
      this.#saidAt = performance.now();
    }
    return `turn ${this.#turn}`;
  }

  hear(ulaw: Buffer): readonly ModelEvent[] {
    this.#send({ type: 'session.input_audio.append', audio: ulaw.toString('base64') });
    const events: ModelEvent[] = [];
    const change = this.#detector.hear(ulaw);
    if (change === 'begins') events.push(this.#interrupted());
    if (change === 'stops') this.#release();
    if (this.#saidAt !== undefined && this.#isResting()) {
      this.#saidAt = undefined;
      events.push({ type: 'rested' });
    }
    return events;
  }

  /** What it says is heard again, if it was not. */
  #release(): void {
    this.#isCut ||= this.#heldUntil !== undefined;
    this.#heldUntil = undefined;
  }

  #interrupted(): ModelEvent {
    const item = this.#person.begins();
    if (this.#isResting()) return { type: 'speech_started', item };
    this.#heldUntil = performance.now() + HELD_MS;
    this.#isCut = false;
    return { type: 'speech_started', item, cuts: `turn ${this.#turn}` };
  }

  /** The model that uses tools has told something. */
  #worked({ type, item, response }: Record<string, unknown>): readonly ModelEvent[] {
    switch (type) {
      case 'response.created':
        this.#isActive = true;
        return [];
      case 'response.output_item.done':
        return this.#called(objectOf(item));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#done(objectOf(response));
      default:
        return [];
    }
  }

  #called({ type, call_id: callId, name, arguments: args }: Record<string, unknown>): readonly ModelEvent[] {
    if (type !== 'function_call') return [];
    const id = idOf(callId);
    this.#open.add(id);
    this.#saidAt = performance.now();
    return [{ type: 'tool', id, name: textOf(name), args: textOf(args) }];
  }

  #done({ error, usage }: Record<string, unknown>): readonly ModelEvent[] {
    this.#isActive = false;
    this.#goOn();
    return [...(isObject(usage) ? [usedOf(usage)] : []), ...(error ? [openaiFault(objectOf(error), false)] : [])];
  }

  #failed(error: Record<string, unknown>): readonly ModelEvent[] {
    if (error['client_event_id'] === CREATE) {
      this.#isActive = false;
      this.#isWanted = true;
    }
    return [openaiFault(error, false)];
  }

  speak(told = YOUR_TURN): void {
    this.#add(told, 'session.commentary.append');
  }

  tell(text: string): void {
    this.#add(`${text} Answer to that.`, 'session.instructions.append');
  }

  /** Adds words to the conversation. @param as what the last of them come to, if they are too many for one message */
  #add(text: string, as: 'session.commentary.append' | 'session.instructions.append'): void {
    const parts = partsOf(text);
    for (const [at, content] of parts.entries()) {
      const type = at === parts.length - 1 ? as : 'session.instructions.append';
      this.#send({ type, content, delegation_id: null });
    }
  }

  answer(id: string, output: string): void {
    if (!this.#open.delete(id)) return;
    this.#send({ type: 'response.item.create', item: { type: 'function_call_output', call_id: id, output } });
    this.#isWanted = true;
    this.#goOn();
  }

  #goOn(): void {
    if (!this.#isWanted || this.#isActive || this.#open.size > 0) return;
    this.#isWanted = false;
    this.#isActive = true;
    this.#send({ type: 'response.create', event_id: CREATE });
  }

  /** It hears itself what it is interrupted by, and can't be told of what was heard. */
  cut(): void {}

  askFor(tool: string, why: string): void {
    const responses = { tool_choice: { type: 'function', name: tool } };
    this.#send({ type: 'session.update', session: { delegation: { type: 'responses', responses } } });
    const content = [{ type: 'input_text', text: `${why} Call ${tool} now.` }];
    this.#send({ type: 'response.item.create', item: { type: 'message', role: 'developer', content } });
    this.#open.clear();
    this.#isWanted = true;
    this.#goOn();
  }

  end(): void {
    this.#send({ type: 'session.close' });
  }
}

const FRONTEND =
  'You are on the telephone. You have no tools yourself: delegate as soon as you need one of these, and say nothing of it but what came of it.';
const BACKEND =
  'Another model talks with the person on the telephone, by the instructions above, and delegates work to you. Use the tools that it needs, and answer in a few words that can be said.';
const listed = ({ name, description }: ModelTool) => `- ${name}: ${description}`;

/** What the model that uses tools has used: the one that speaks is paid by the minute. */
function usedOf(usage: Record<string, unknown>): ModelEvent {
  const cached = objectOf(usage['input_tokens_details'])['cached_tokens'];
  return {
    ...{ type: 'used', inputTokens: countOf(usage['input_tokens']), outputTokens: countOf(usage['output_tokens']) },
    ...(cached !== undefined && { cachedInputTokens: countOf(cached) }),
  };
}

/** A text in pieces of so many bytes, at spaces if there are any. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  for (const word of text.split(/(?<=\s)/)) {
    for (const piece of word.match(/.{1,200}/gsu) ?? []) {
      if (Buffer.byteLength(part + piece) > MOST_ADDED) {
        parts.push(part);
        part = '';
      }
      part += piece;
    }
  }
  return [...parts, part];
}
