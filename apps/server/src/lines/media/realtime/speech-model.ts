/** A session with a speech model, whatever protocol it speaks: what it is told, and what it tells. Sound is µ-law of 8 kHz. */

/** What a session begins with. */
export interface SessionTerms {
  model: string;
  instructions: string;
  voice?: string | undefined;
  /** ISO 639-1, of what is said on both sides. */
  language?: string | undefined;
  tools: readonly ModelTool[];
}

/** A function that the model may call. */
export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments: an object. */
  parameters: object;
}

/** What a model says that it has used, in tokens. */
export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  /** Parts of them, if it tells. */
  inputAudioTokens?: number;
  outputAudioTokens?: number;
  /** Of the input, what it had read before and takes less for. */
  cachedInputTokens?: number;
}

/** What a model tells. An `item` is one piece of speech, of one side. */
export type ModelEvent =
  /** It has taken what the session begins with. */
  | { type: 'ready' }
  | { type: 'sound'; item: string; ulaw: Buffer }
  /** More of the words of its speech; they come before their sound, or after it. */
  | { type: 'words'; item: string; text: string }
  /** The callee has begun to speak: what waits to be played is out of date. */
  | { type: 'speech_started'; item: string }
  /** What the callee has said in an item, whole. */
  | { type: 'heard'; item: string; text: string }
  /** @param args JSON, as the model wrote it */
  | { type: 'tool'; id: string; name: string; args: string }
  /** What it was saying or doing is whole, or was cut short. */
  | { type: 'rested' }
  /** More was used. */
  | ({ type: 'used' } & ModelUsage)
  /**
   * It could not do something.
   * @param limit for want of rate or quota, which is no fault of the agent's
   * @param isSilent whether a response came to nothing, so that the callee waits for it in vain
   */
  | { type: 'fault'; limit: boolean; isSilent: boolean; text: string };

/** A session: it has no connection of its own, and writes each of its messages by the function that it was made with. */
export interface SpeechModel {
  /** The connection stands. */
  begin(): void;
  /** @returns what a message tells: nothing if it is of no interest, undefined if it means nothing */
  read(message: Buffer): readonly ModelEvent[] | undefined;
  /** 20 ms of the callee. */
  hear(ulaw: Buffer): void;
  /** Has it speak now. @param told what it is to say, or to do */
  speak(told?: string): void;
  /** Tells it something that neither side has said, such as a key that was pressed, and has it speak. */
  tell(text: string): void;
  /** What came of a tool; once all that it has called are answered, it goes on. */
  answer(id: string, output: string): void;
  /** The callee has heard so many ms of an item, and the rest was thrown away. */
  cut(item: string, heardMs: number): void;
  /** The call is over: has it call a tool, and say nothing. */
  askFor(tool: string, why: string): void;
}

/** How models of a protocol are reached. */
export interface Protocol {
  /** Where one is, if its agent says nothing else. */
  url: string;
  /** The address of a model. */
  urlOf(url: string, model: string): string;
  headersOf(url: string, apiKey: string | undefined): Record<string, string>;
  session(terms: SessionTerms, send: (message: object) => void): SpeechModel;
}
