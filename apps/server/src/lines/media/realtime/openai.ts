import { textOf } from './read-words.ts';
import type { ModelEvent } from './speech-model.ts';

/** Codes of faults that pass by themselves, or by paying. */
const LIMITS = /rate_limit|quota|insufficient_|too_many_requests|credit_balance/;

/** How a key goes to OpenAI, and to those who speak its protocols. */
export const keyHeader = (url: string, apiKey: string | undefined): Record<string, string> => {
  if (apiKey === undefined) return {};
  const isAzure = new URL(url).hostname.endsWith('.azure.com');
  return isAzure ? { 'api-key': apiKey } : { Authorization: `Bearer ${apiKey}` };
};

/** What an error of OpenAI's means. @param isSilent whether a response came to nothing by it */
export const openaiFault = ({ code, type, message }: Record<string, unknown>, isSilent: boolean): ModelEvent => ({
  ...{ type: 'fault', isSilent },
  limit: LIMITS.test(textOf(code)) || LIMITS.test(textOf(type)),
  text: textOf(message) || textOf(code),
});
