import { geminiLive } from './gemini-live.ts';
import { openaiLive } from './openai-live.ts';
import { openaiRealtime } from './openai-realtime.ts';
import type { Protocol } from './speech-model.ts';

/** The protocols of speech models, by the contract's names. */
export const protocols = {
  openai_realtime: openaiRealtime,
  openai_live: openaiLive,
  gemini_live: geminiLive,
} satisfies Record<string, Protocol>;
export type ProtocolName = keyof typeof protocols;
