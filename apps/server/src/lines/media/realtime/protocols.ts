import { openaiRealtime } from './openai-realtime.ts';
import type { Protocol } from './speech-model.ts';

/** The protocols of speech models, by the contract's names. */
export const protocols = { openai_realtime: openaiRealtime } satisfies Record<string, Protocol>;
export type ProtocolName = keyof typeof protocols;
