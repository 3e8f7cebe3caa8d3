import { DIGITS } from '../../lines/media/digits.ts';
import type { ModelTool } from '../../lines/media/realtime/speech-model.ts';

const MOST_QUERY = 500;

const object = (properties: Record<string, object>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const text = (maxLength: number, description: string) => ({ type: 'string', maxLength, description });

const endCall: ModelTool = {
  name: 'end_call',
  description: 'Hangs up once your last words were heard. Say goodbye first.',
  parameters: object({}),
};
const optOut: ModelTool = {
  name: 'opt_out',
  description: 'The person does not want to be called any more: nobody calls this number again.',
  parameters: object({}),
};
const callBack: ModelTool = {
  name: 'call_back',
  description: 'Has the person called again, once. Give inMinutes, or at, a time of day where the person is.',
  parameters: object({
    inMinutes: { type: 'integer', minimum: 1, maximum: 43_200 },
    at: {
      type: 'string',
      pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
      description: 'Such as 09:30: the next time that it is so late.',
    },
  }),
};
const pressKeys: ModelTool = {
  name: 'press_keys',
  description: 'Presses keys of the telephone, as for the menu of a machine. w is a pause of half a second, W of one.',
  parameters: object(
    { digits: { type: 'string', minLength: 1, maxLength: 64, pattern: DIGITS, description: 'Such as 2 or 1W104#.' } },
    ['digits'],
  ),
};
const searchKnowledge: ModelTool = {
  name: 'search_knowledge',
  description: 'Looks up passages of documents that answer a question. Use it before you say that you do not know.',
  parameters: object({ query: text(MOST_QUERY, 'A few words to look for.') }, ['query']),
};
const recordResult = (data: object | undefined): ModelTool => ({
  name: 'record_result',
  description: 'Keeps what came of the call. Call it before the call ends, and again if something has changed.',
  parameters: object(
    {
      summary: text(10_000, 'What was said, in a few sentences.'),
      disposition: { ...text(64, 'How the call went, in one word.'), minLength: 1 },
      converted: { type: 'boolean', description: 'Whether the call reached what it was for.' },
      ...(data && { data: { additionalProperties: false, ...data } }),
    },
    data ? ['data'] : [],
  ),
});

export const RESULT_TOOL = 'record_result';

/** The names of what a model has by itself, now or later. */
export const ownToolNames: ReadonlySet<string> = new Set([
  ...['end_call', 'opt_out', 'record_result', 'search_knowledge', 'call_back', 'transfer', 'press_keys'],
]);

/** What a model can do in its calls. @param data JSON Schema of what it is to find out */
export const ownTools = (data: object | undefined, hasBases: boolean): ModelTool[] => [
  ...[endCall, optOut, callBack, pressKeys, recordResult(data)],
  ...(hasBases ? [searchKnowledge] : []),
];
