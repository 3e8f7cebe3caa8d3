import type { components } from '../../foundation/values/generated/contract.ts';
import type { AnsweredAsk } from '../media/answered/answered-voice.ts';

/** What is done if a machine answers; its text has templates still. */
export type Voicemail = components['schemas']['CallVoicemail'];

/** The same as the voice of a call is asked for it. */
export function askOfVoicemail({ action, soundId, text, language = 'en', voice }: Voicemail): AnsweredAsk {
  if (soundId !== undefined) return { voicemail: action, message: { soundId } };
  if (text === undefined) return { voicemail: action };
  return { voicemail: action, message: { text, language, voice, isKept: true } };
}
