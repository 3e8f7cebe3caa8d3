import type { Bundle, Media, Operation } from './bundle.ts';
import { examplesOf, operationsOf } from './bundle.ts';

/** What Zod makes of a schema. */
interface ZodSchema {
  safeParse(value: unknown): { success: boolean };
}
/** The schemas of one operation, of which a generator may leave some out. */
interface Schemas {
  body?: ZodSchema | undefined;
  answer?: ZodSchema | undefined;
}
/** Finds what a generator has made for an operation. */
export type FindSchemas = (operationId: string) => Schemas;

const jsonOf = ({ content }: { content?: Record<string, Media> }) => content?.['application/json'];

/** What a later version may answer. */
const grown = (value: unknown) => ({ ...(value as object), ofALaterVersion: { some: 'thing' } });

export interface Judged {
  /** How many examples were looked at. */
  bodies: number;
  answers: number;
  /** Those that were refused, though they are right; and schemas that take what is no body and no answer at all. */
  wrong: string[];
}

/** Has the schemas judge the examples of all bodies and of all answers that go well, these with a field that is new. */
export function judge({ contract, resolved }: Bundle, find: FindSchemas): Judged {
  const judged: Judged = { bodies: 0, answers: 0, wrong: [] };
  for (const { operation } of operationsOf(contract)) {
    const { body, answer } = find(operation.operationId);
    const look = (schema: ZodSchema, name: string, values: unknown[]) => {
      const id = `${operation.operationId} ${name}`;
      for (const [at, value] of values.entries())
        if (!schema.safeParse(value).success) judged.wrong.push(`${id} ${at} is refused`);
      if (schema.safeParse('none').success) judged.wrong.push(`${id} is taken as a text`);
      return values.length;
    };
    const sent = operation.requestBody && jsonOf(resolved(operation.requestBody));
    if (sent && body) judged.bodies += look(body, 'body', examplesOf(sent));
    const told = answerOf(operation, resolved);
    if (told && answer) judged.answers += look(answer, 'answer', examplesOf(told).map(grown));
  }
  return judged;
}

function answerOf({ responses }: Operation, resolved: Bundle['resolved']): Media | undefined {
  const [, response] = Object.entries(responses).find(([status]) => status.startsWith('2'))!;
  return jsonOf(resolved(response));
}
