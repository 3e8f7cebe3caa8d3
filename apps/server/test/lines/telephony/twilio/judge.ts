import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import type { PickedApi } from './pick-schemas.ts';

/** One operation of Twilio's, with what its own description says of it. */
export interface JudgedOperation {
  /** Such as `post /v1/Trunks/{TrunkSid}/PhoneNumbers`. */
  name: string;
  /** The values of its path, in order. */
  values: string[];
  queryFault(query: Record<string, unknown>): string | undefined;
  formFault(form: Record<string, unknown>): string | undefined;
  answerFault(status: number, body: unknown): string | undefined;
}

/** Finds the operation of a request. What is not described is none. */
export function judge(): (method: string, pathname: string) => JudgedOperation | undefined {
  const file = path.join(import.meta.dirname, 'generated/twilio-api.json');
  const api = JSON.parse(readFileSync(file, 'utf8')) as PickedApi;
  // What comes in a query or a form is text, which the first reads as what it should be.
  const within = (schema: unknown) => JSON.parse(JSON.stringify(schema).replaceAll('"#/schemas/', '"api#/schemas/'));
  const [requests, answers] = [true, false].map((coerceTypes) =>
    new Ajv({ coerceTypes, strict: false, allErrors: true }).addSchema({ schemas: within(api.schemas) }, 'api'),
  ) as [Ajv, Ajv];
  const faultOf = (ajv: Ajv, check: ValidateFunction) => (value: unknown) =>
    check(value) ? undefined : ajv.errorsText(check.errors, { dataVar: '' });
  const operations = Object.entries(api.operations).map(([name, { query, form, answers: byStatus }]) => {
    const [verb = '', template = ''] = name.split(' ');
    const pattern = new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([A-Za-z0-9_-]+)')}$`);
    const checks = Object.entries(byStatus).map(([status, schema]) => [
      status,
      schema === false
        ? (body: unknown) => (body === undefined ? undefined : 'must have no body')
        : faultOf(answers, answers.compile(within(schema) as object)),
    ]);
    const ofAnswers = Object.fromEntries(checks) as Record<string, (body: unknown) => string | undefined>;
    return {
      ...{ name, verb, pattern },
      queryFault: faultOf(requests, requests.compile(within(query) as object)),
      formFault:
        form === undefined ? () => 'takes no form' : faultOf(requests, requests.compile(within(form) as object)),
      answerFault: (status: number, body: unknown) => (ofAnswers[status] ?? (() => `${status} is not described`))(body),
    };
  });
  return (method, pathname) => {
    for (const { verb, pattern, ...operation } of operations) {
      const values = verb === method.toLowerCase() ? pattern.exec(pathname) : null;
      if (values) return { ...operation, values: values.slice(1) };
    }
    return undefined;
  };
}
