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

/** What a model can do in its calls. @param data JSON Schema of what it is to find out */
export const ownTools = (data: object | undefined, hasBases: boolean): ModelTool[] => [
  ...[endCall, optOut, recordResult(data)],
  ...(hasBases ? [searchKnowledge] : []),
];
