import { keyHeader, openaiFault } from './openai.ts';
import { countOf, idOf, isObject, objectOf, readWords, textOf } from './read-words.ts';
import type { ModelEvent, Protocol, SessionTerms, SpeechModel } from './speech-model.ts';

/** What writes down what the callee says; the model itself hears sound. */
const TRANSCRIBER = 'gpt-transcribe';
const FORMAT = { type: 'audio/pcmu' };
const SOUND = /"delta"\s*:\s*"/;
const BUSY = 'conversation_already_has_active_response';

/**
 * OpenAI's Realtime API, as it is since it is generally available (npm `openai`, `resources/realtime`). Azure, xAI and some
 * local servers speak it too.
 */
export const openaiRealtime: Protocol = {
  url: 'wss://api.openai.com/v1/realtime',
  urlOf: (url, model) => {
    const place = new URL(url);
    if (!place.searchParams.has('model')) place.searchParams.set('model', model);
    return place.href;
  },
  headersOf: keyHeader,
  session: (terms, send) => new OpenaiRealtime(terms, send),
};

class OpenaiRealtime implements SpeechModel {
  #terms: SessionTerms;
  #send: (message: object) => void;
  /** Whether it is making a response, or was asked to; another one is refused meanwhile. */
  #isActive = false;
  #isAsked = false;
  /** The response that it is to make next. */
  #wanted: object | undefined;
  /** Calls of tools that wait for their answers. */
  #open = new Set<string>();

  constructor(terms: SessionTerms, send: (message: object) => void) {
    this.#terms = terms;
    this.#send = send;
  }

  begin(): void {
    const { instructions, voice, language, tools } = this.#terms;
    const transcription = { model: TRANSCRIBER, ...(language !== undefined && { language }) };
    const input = { format: FORMAT, transcription, turn_detection: { type: 'server_vad' } };
    const output = { format: FORMAT, ...(voice !== undefined && { voice }) };
    const session = {
      ...{ type: 'realtime', instructions, output_modalities: ['audio'], audio: { input, output } },
      tools: tools.map((tool) => ({ type: 'function', ...tool })),
    };
    this.#send({ type: 'session.update', session });
  }

  read(message: Buffer): readonly ModelEvent[] | undefined {
    const read = readWords(message, SOUND);
    if (!read || typeof read.fields['type'] !== 'string') return undefined;
    const { fields, sound } = read;
    const item = idOf(fields['item_id']);
    switch (fields['type']) {
      case 'session.updated':
        return [{ type: 'ready' }];
      case 'response.output_audio.delta':
        return [{ type: 'sound', item, ulaw: Buffer.from(sound ?? textOf(fields['delta']), 'base64') }];
      case 'response.output_audio_transcript.delta':
        return [{ type: 'words', item, text: sound ?? textOf(fields['delta']) }];
      case 'input_audio_buffer.speech_started':
        return [{ type: 'speech_started', item }];
      case 'conversation.item.input_audio_transcription.completed':
        return [{ type: 'heard', item, text: textOf(fields['transcript']) }];
      case 'response.function_call_arguments.done':
        return this.#called(fields);
      case 'response.created':
        this.#isActive = true;
        this.#isAsked = false;
        return [];
      case 'response.done':
        return this.#done(objectOf(fields['response']));
      case 'error':
        return this.#failed(objectOf(fields['error']));
      default:
        return [];
    }
  }

  #called({ call_id: callId, name, arguments: args }: Record<string, unknown>): readonly ModelEvent[] {
    const id = idOf(callId);
    this.#open.add(id);
    return [{ type: 'tool', id, name: textOf(name), args: textOf(args) }];
  }

  #done({ status, status_details: details, usage }: Record<string, unknown>): readonly ModelEvent[] {
    this.#isActive = false;
    const fault = status === 'failed' ? [openaiFault(objectOf(objectOf(details)['error']), true)] : [];
    this.#goOn();
    return [...(isObject(usage) ? [usedOf(usage)] : []), ...fault, { type: 'rested' }];
  }

  #failed(error: Record<string, unknown>): readonly ModelEvent[] {
    const isBusy = error['code'] === BUSY;
    if (this.#isAsked) this.#isActive = isBusy;
    this.#isAsked = false;
    if (!isBusy) return [openaiFault(error, false)];
    this.#wanted ??= {};
    return [];
  }

  hear(ulaw: Buffer): [] {
    this.#send({ type: 'input_audio_buffer.append', audio: ulaw.toString('base64') });
    return [];
  }

  speak(told?: string): void {
    this.#want(told === undefined ? {} : { instructions: `${this.#terms.instructions}\n\n${told}` });
  }

  tell(text: string): void {
    this.#addWords(text);
    this.#want({});
  }

  #addWords(text: string): void {
    const item = { type: 'message', role: 'system', content: [{ type: 'input_text', text }] };
    this.#send({ type: 'conversation.item.create', item });
  }

  answer(id: string, output: string): void {
    const item = { type: 'function_call_output', call_id: id, output };
    this.#send({ type: 'conversation.item.create', item });
    this.#open.delete(id);
    this.#want({});
  }

  cut(item: string, heardMs: number): void {
    const cut = { item_id: item, content_index: 0, audio_end_ms: heardMs };
    this.#send({ type: 'conversation.item.truncate', ...cut });
  }

  askFor(tool: string, why: string): void {
    if (this.#isActive) this.#send({ type: 'response.cancel' });
    this.#addWords(why);
    this.#open.clear();
    this.#want({ output_modalities: ['text'], tool_choice: { type: 'function', name: tool } });
  }

  #want(response: object): void {
    this.#wanted = response;
    this.#goOn();
  }

  /** Has it respond, once it has nothing else to do and knows all that it has asked for. */
  #goOn(): void {
    if (!this.#wanted || this.#isActive || this.#open.size > 0) return;
    const response = this.#wanted;
    this.#wanted = undefined;
    this.#isActive = true;
    this.#isAsked = true;
    this.#send({ type: 'response.create', ...(Object.keys(response).length > 0 && { response }) });
  }
}

function usedOf(usage: Record<string, unknown>): ModelEvent {
  const [input, output] = [objectOf(usage['input_token_details']), objectOf(usage['output_token_details'])];
  const parts = {
    inputAudioTokens: input['audio_tokens'],
    outputAudioTokens: output['audio_tokens'],
    cachedInputTokens: input['cached_tokens'],
  };
  const told = Object.entries(parts).filter(([, count]) => count !== undefined);
  return {
    ...{ type: 'used', inputTokens: countOf(usage['input_tokens']), outputTokens: countOf(usage['output_tokens']) },
    ...Object.fromEntries(told.map(([name, count]) => [name, countOf(count)])),
  };
}
