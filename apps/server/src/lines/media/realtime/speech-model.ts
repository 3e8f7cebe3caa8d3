/** A session with a speech model, whatever protocol it speaks: what it is told, and what it tells. Sound is µ-law of 8 kHz. */

/** What a session begins with. */
export interface SessionTerms {
  model: string;
  instructions: string;
  voice?: string | undefined;
  /** ISO 639-1, of what is said on both sides. */
  language?: string | undefined;
  tools: readonly ModelTool[];
  /** The model that uses the tools, if the one that speaks has another do that. */
  backendModel?: string | undefined;
  /** Another session's `resumption`: it goes on from there. */
  resume?: string | undefined;
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
  /**
   * The callee has begun to speak: what waits to be played is out of date.
   * @param cuts what it was saying, if more sound of that may come
   */
  | { type: 'speech_started'; item: string; cuts?: string }
  /** What the callee has said in an item, or more of it. */
  | { type: 'heard'; item: string; text: string }
  /** @param args JSON, as the model wrote it */
  | { type: 'tool'; id: string; name: string; args: string }
  /** It wants no answer any more of a tool that it has called. */
  | { type: 'withdrawn'; id: string }
  /** What it was saying or doing is whole, or was cut short. */
  | { type: 'rested' }
  /** The vendor is about to close the connection, as it does after some minutes: the session is to go on over another one. */
  | { type: 'moves' }
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
  /** What another session can go on from, if the vendor keeps it. */
  readonly resumption?: string | undefined;
  /** The connection stands. */
  begin(): void;
  /** @returns what a message tells: nothing if it is of no interest, undefined if it means nothing */
  read(message: Buffer): readonly ModelEvent[] | undefined;
  /** 20 ms of the callee. @returns what that tells, or that the time has passed */
  hear(ulaw: Buffer): readonly ModelEvent[];
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
  /** The session is over. */
  end?(): void;
}

/** How models of a protocol are reached. */
export interface Protocol {
  /** Where one is, if its agent says nothing else. */
  url: string;
  /** The address of a model. */
  urlOf(url: string, model: string): string;
  headersOf(url: string, apiKey: string | undefined): Record<string, string>;
  session(terms: SessionTerms, send: (message: object) => void): SpeechModel;
  /** What the text of a close means, if the vendor tells it by that alone: no rate or quota is left, or the key is refused. */
  faultOf?(text: string): 'limit' | 'key' | undefined;
}
