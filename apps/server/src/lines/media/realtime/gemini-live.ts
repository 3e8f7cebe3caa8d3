import { randomUUID } from 'node:crypto';
import { PcmToUlaw, UlawToPcm } from '@trunkline/media';
import { PersonTurns } from './person-turns.ts';
import { countOf, idOf, objectOf, readWords, textOf } from './read-words.ts';
import type { ModelEvent, Protocol, SessionTerms, SpeechModel } from './speech-model.ts';

/** What it hears, in Hz: PCM of 16 bits. */
const HEARS = 16_000;
/** What it speaks, if a message doesn't say so, and what else it may. */
const SPEAKS = 24_000;
const RATES = [8000, HEARS, SPEAKS, 48_000];
const SOUND = /"inlineData"\s*:\s*\{\s*(?:"mimeType"\s*:\s*"[^"]*"\s*,\s*)?"data"\s*:\s*"/;
/** Of a message, in characters: ten seconds. To resample more would hold up all calls of the thread. */
const MOST_SOUND = 640_000;
/** Of calls of tools in a message: each takes time of the thread. */
const MOST_CALLS = 64;
/** What names a state to go on from, in characters. */
const MOST_HANDLE = 8192;
const YOUR_TURN = 'It is your turn to speak.';

/** What it closes a session with: it has no messages of faults. */
const LIMITS = /quota|exhausted|rate.?limit|too many|overloaded|\b429\b/i;
const KEYS = /api.?key|unregistered callers|unauthenticated|permission/i;
/** Why a turn may be over without a word. */
const FAILED = /^(MALFORMED_FUNCTION_CALL|RESPONSE_REJECTED|.*PROHIBITED.*|BLOCKLIST|GENERATED_.*|INPUT_OTHER)$/;

/** Gemini's Live API, `BidiGenerateContent` (npm `@google/genai`). */
export const geminiLive: Protocol = {
  url: 'wss://generativelanguage.googleapis.com/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  urlOf: (url) => url,
  // Its own libraries put the key into the address, which stands in logs.
  headersOf: (_url, apiKey): Record<string, string> => (apiKey === undefined ? {} : { 'x-goog-api-key': apiKey }),
  session: (terms, send) => new GeminiLive(terms, send),
  faultOf: (text) => (LIMITS.test(text) ? 'limit' : KEYS.test(text) ? 'key' : undefined),
};

class GeminiLive implements SpeechModel {
  #terms: SessionTerms;
  #send: (message: object) => void;
  #ear = new UlawToPcm(HEARS);
  #mouth: { rate: number; resampler: PcmToUlaw } | undefined;
  /** Its turns have no names: they are counted. A new one begins with the first of its sound or words. */
  #turn = { number: 0, is: 'over' as 'over' | 'interrupted' | 'silent' | 'spoken' };
  #person = new PersonTurns();
  /** Calls of tools that wait for their answers, by the names that we know them by. */
  #open = new Map<string, { id?: string; name: string }>();
  /** Where another session can go on from. */
  resumption: string | undefined;

  constructor(terms: SessionTerms, send: (message: object) => void) {
    this.#terms = terms;
    this.#send = send;
  }

  begin(): void {
    const { model, instructions, voice, language, tools, resume } = this.#terms;
    const speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } };
    const setup = {
      model: model.includes('/') ? model : `models/${model}`,
      generationConfig: { responseModalities: ['AUDIO'], ...(voice !== undefined && { speechConfig }) },
      systemInstruction: { parts: [{ text: instructions }] },
      ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(declared) }] }),
      inputAudioTranscription: language === undefined ? {} : { languageCodes: [language] },
      outputAudioTranscription: {},
      // Without it a session of sound ends after 15 minutes.
      contextWindowCompression: { slidingWindow: {} },
      sessionResumption: resume === undefined ? {} : { handle: resume },
    };
    this.#send({ setup });
  }

  read(message: Buffer): readonly ModelEvent[] | undefined {
    const read = readWords(message, SOUND);
    if (!read || (read.sound?.length ?? 0) > MOST_SOUND) return undefined;
    const { fields, sound } = read;
    const calls = listOf(objectOf(fields['toolCall'])['functionCalls']);
    if (calls.length > MOST_CALLS) return undefined;
    const { newHandle, resumable } = objectOf(fields['sessionResumptionUpdate']);
    const handle = textOf(newHandle);
    if (fields['sessionResumptionUpdate'])
      this.resumption = resumable === true && handle !== '' && handle.length <= MOST_HANDLE ? handle : undefined;
    return [
      ...(fields['setupComplete'] ? [{ type: 'ready' } as const] : []),
      ...this.#content(objectOf(fields['serverContent']), sound),
      ...calls.map((call) => this.#called(objectOf(call))),
      ...listOf(objectOf(fields['toolCallCancellation'])['ids']).map((id) => this.#withdrawn(textOf(id))),
      ...(objectOf(fields['voiceActivity'])['voiceActivityType'] === 'ACTIVITY_START' ? [this.#hears()] : []),
      ...(fields['usageMetadata'] ? [usedOf(objectOf(fields['usageMetadata']))] : []),
      ...(fields['goAway'] ? [{ type: 'moves' } as const] : []),
    ];
  }

  #content(content: Record<string, unknown>, sound: string | undefined): ModelEvent[] {
    const events: ModelEvent[] = [];
    const { inputTranscription, outputTranscription, modelTurn, interrupted, turnCompleteReason } = content;
    const [heard, words] = [inputTranscription, outputTranscription].map((each) => textOf(objectOf(each)['text']));
    if (heard) events.push({ type: 'heard', item: this.#person.heard(), text: heard });
    let rest = sound;
    for (const part of listOf(objectOf(modelTurn)['parts'])) {
      const { mimeType, data } = objectOf(objectOf(part)['inlineData']);
      const isTakenOut = data === '' && rest !== undefined;
      const said = this.#said(textOf(mimeType), isTakenOut ? rest! : textOf(data));
      if (isTakenOut) rest = undefined;
      if (said.length > 0) events.push({ type: 'sound', item: this.#item('spoken'), ulaw: said });
    }
    if (words) events.push({ type: 'words', item: this.#item('silent'), text: words });
    if (interrupted === true) events.push(...this.#interrupted());
    if (content['generationComplete'] === true || content['turnComplete'] === true) events.push(...this.#rested());
    if (content['turnComplete'] === true) events.push(...this.#over(textOf(turnCompleteReason)));
    return events;
  }

  /** @returns what it says, µ-law */
  #said(mimeType: string, base64: string): Buffer {
    const rate = Number(/^audio\/pcm\s*;\s*rate=(\d+)/.exec(mimeType)?.[1] ?? SPEAKS);
    if (base64 === '' || !RATES.includes(rate)) return Buffer.alloc(0);
    if (this.#mouth?.rate !== rate) this.#mouth = { rate, resampler: new PcmToUlaw(rate) };
    return this.#mouth.resampler.push(Buffer.from(base64, 'base64'));
  }

  /** The turn that something belongs to. What it writes down of an interrupted one may come later than that. */
  #item(is: 'silent' | 'spoken'): string {
    const isNew = this.#turn.is === 'over' || (this.#turn.is === 'interrupted' && is === 'spoken');
    if (isNew) {
      this.#turn = { number: this.#turn.number + 1, is };
      this.#person.answered();
    } else if (is === 'spoken') this.#turn.is = is;
    return `turn ${this.#turn.number}`;
  }

  /** The callee begins to speak. */
  #hears(): ModelEvent {
    return { type: 'speech_started', item: this.#person.begins() };
  }

  #interrupted(): ModelEvent[] {
    this.#mouth = undefined;
    if (this.#turn.is !== 'over') this.#turn.is = 'interrupted';
    return [this.#hears()];
  }

  #rested(): ModelEvent[] {
    const last = this.#mouth?.resampler.end();
    this.#mouth = undefined;
    const sound = last ? [{ type: 'sound', item: this.#item('spoken'), ulaw: last } as const] : [];
    return [...sound, { type: 'rested' }];
  }

  #over(reason: string): ModelEvent[] {
    const isSilent = this.#turn.is !== 'spoken' && this.#open.size === 0;
    this.#turn.is = 'over';
    return FAILED.test(reason) ? [{ type: 'fault', limit: false, isSilent, text: reason }] : [];
  }

  #called({ id, name, args }: Record<string, unknown>): ModelEvent {
    const known = idOf(id);
    // Another session of the same call must not name another use of a tool like it.
    const call = known === '' ? randomUUID() : known;
    this.#open.set(call, { name: textOf(name), ...(known !== '' && { id: known }) });
    return { type: 'tool', id: call, name: textOf(name), args: JSON.stringify(args ?? {}) };
  }

  #withdrawn(id: string): ModelEvent {
    this.#open.delete(id);
    return { type: 'withdrawn', id };
  }

  hear(ulaw: Buffer): [] {
    const data = this.#ear.push(ulaw).toString('base64');
    this.#send({ realtimeInput: { audio: { data, mimeType: `audio/pcm;rate=${HEARS}` } } });
    return [];
  }

  speak(told = YOUR_TURN): void {
    this.tell(told);
  }

  /** The only words that all models of it take at any time. It answers them. */
  tell(text: string): void {
    this.#send({ realtimeInput: { text } });
  }

  answer(id: string, output: string): void {
    const call = this.#open.get(id);
    if (!call) return;
    this.#open.delete(id);
    this.#send({ toolResponse: { functionResponses: [{ ...call, response: { output } }] } });
  }

  /** It keeps by itself what it has sent until it was interrupted, and can't be told. */
  cut(): void {}

  askFor(tool: string, why: string): void {
    this.tell(`${why} Call the tool ${tool} now, and say nothing.`);
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const declared = ({ name, description, parameters }: SessionTerms['tools'][number]) => ({
  ...{ name, description, parametersJsonSchema: parameters },
});

/** Each turn pays for all that came before it. */
const usedOf = (usage: Record<string, unknown>): ModelEvent => ({
  type: 'used',
  inputTokens: countOf(usage['promptTokenCount']) + countOf(usage['toolUsePromptTokenCount']),
  outputTokens: countOf(usage['responseTokenCount']) + countOf(usage['thoughtsTokenCount']),
  ...(usage['promptTokensDetails'] ? { inputAudioTokens: audioOf(usage['promptTokensDetails']) } : {}),
  ...(usage['responseTokensDetails'] ? { outputAudioTokens: audioOf(usage['responseTokensDetails']) } : {}),
  ...(usage['cachedContentTokenCount'] ? { cachedInputTokens: countOf(usage['cachedContentTokenCount']) } : {}),
});

const audioOf = (details: unknown): number =>
  listOf(details)
    .map(objectOf)
    .filter(({ modality }) => modality === 'AUDIO')
    .reduce((sum, { tokenCount }) => sum + countOf(tokenCount), 0);
